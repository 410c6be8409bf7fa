import pytest

from fumikura.grounding import looks_chinese, strip_images, strip_thinking


@pytest.mark.parametrize(
    "markup",
    [
        "![印](http://127.0.0.1:9/log?q=x)",
        "![印][絵]",
        "![]( http://127.0.0.1:9/ 'x' )",
        "![印](http://127.0.0.1:9/log?q=",
        '<img src="http://127.0.0.1:9/b?q=1">',
        "<IMG\nsrc=http://127.0.0.1:9/b>",
        "<picture><source srcset=http://127.0.0.1:9/></picture>",
        "<svg><image href=http://127.0.0.1:9/ /></svg>",
        "<iframe src=http://127.0.0.1:9/></iframe>",
        "<style>body{background:url(http://127.0.0.1:9/)}</style>",
        "<link rel=stylesheet href=http://127.0.0.1:9/>",
        "<img src=http://127.0.0.1:9/",
    ],
)
def test_nothing_that_loads_by_itself_is_left(markup: str):
    stripped = strip_images(f"三浦さんです。{markup}")
    assert stripped.startswith("三浦さんです。")
    assert "127.0.0.1" not in stripped


def test_links_and_code_stay():
    text = "[案内](http://127.0.0.1:9/c) と `![x](y)`\n```html\n<img src=a>\n```"
    assert strip_images(text) == text


def test_thinking_that_slipped_through(reply):
    for path in ("C090/full_pair.json", "C090/closing_tag_only.json", "C092/unclosed_with_answer.json"):
        assert strip_thinking(reply(path)).strip() == "開館は九時です。[1]"
    assert strip_thinking("<think>終わらない") == ""


@pytest.mark.parametrize(
    "text", ["开馆时间是九点。", "開館時間是九點。", "图书馆在这里", "会议室在三楼，请联系李先生。"]
)
def test_chinese_is_noticed(text: str):
    assert looks_chinese(text)


@pytest.mark.parametrize(
    "text",
    [
        "開館は九時です。",
        "目的地 北口",
        "第七会議室 26名",
        "The library opens at nine.",
        "中国語で図書館は「图书馆」と書きます。名前は読みやすい大きな文字で書いてください。",
        "国会の会議は来年に開かれる。",
    ],
)
def test_japanese_and_english_are_not_chinese(text: str):
    assert not looks_chinese(text)
