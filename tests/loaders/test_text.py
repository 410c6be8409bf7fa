import time

from fumikura.loaders import MAX_SECTION_CHARACTERS


def paragraphs(source):
    return [source.text[block.start : block.end] for section in source.sections for block in section.blocks]


def test_blank_lines_part_paragraphs(load):
    source = load("\n一行目\n二行目\n \t\n\n 次の段落 \n", name="memo.txt")
    assert paragraphs(source) == ["一行目\n二行目", "次の段落"]
    assert (source.kind, source.title, source.sections[0].heading_path) == ("text", "memo", ())


def test_marks_of_markdown_stay_plain_text(load):
    source = load("# 印\n\n- 一\n", name="memo.log")
    assert [section.heading_path for section in source.sections] == [()]
    assert paragraphs(source) == ["# 印", "- 一"]


def test_aozora_text_stays_as_it_is(load_case, cases):
    source = load_case("C018/aozora_ruby.txt")
    assert source.text == (cases / "C018/aozora_ruby.txt").read_text()
    assert "｜霧笛《むてき》" in source.text


def test_one_very_long_line_continues_in_further_sections(load_case):
    source = load_case("C034/one_line.txt")
    assert [len(section.text) <= MAX_SECTION_CHARACTERS for section in source.sections] == [True] * 3
    assert all(section.text.endswith("、") for section in source.sections[:-1])
    assert source.text.endswith("金庫の番号は七七一二である")
    assert "笛三回" in load_case("C034/emoji_run.txt").text


def test_emoji_are_not_torn_between_sections(load):
    family = "👨‍👩‍👧‍👦"
    source = load(family * 9_000, name="a.txt")
    assert len(source.sections) > 3
    assert all(section.text.replace(family, "") == "" for section in source.sections)


def test_tens_of_thousands_of_blank_lines(load_case):
    started = time.monotonic()
    source = load_case("C036/many_blank_lines.txt")
    assert time.monotonic() - started < 2
    assert paragraphs(source) == ["最初の行", "最後の行。合図は緑の旗。"]


def test_a_run_of_spaces_makes_no_blocks_of_nothing(load):
    source = load("始め" + " " * 50_000 + "終わり", name="a.txt")
    assert paragraphs(source)[0] == "始め"
    assert paragraphs(source)[-1].endswith("終わり")
    assert all(text.strip() for text in paragraphs(source))


def test_twenty_megabytes_of_text_take_seconds(load):
    started = time.monotonic()
    source = load("港の倉庫には品番の木箱があり、" * 430_000 + "終わり", name="a.txt")
    assert time.monotonic() - started < 10
    assert sum(len(section.text) for section in source.sections) == len(source.text)
