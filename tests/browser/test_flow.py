"""What a person does on the page, in a real chromium over the real server; only the model's answers are prepared."""

from collections.abc import Callable
from pathlib import Path

import pytest
from page_steps import (
    ANSWERS,
    ASK_FEE,
    ASK_HOURS,
    ASK_MOUNTAIN,
    FEE,
    HOURS,
    LIBRARY,
    PICTURE,
    ask,
    drop,
    drop_both,
    row,
)
from playwright.sync_api import Page, expect
from real_server import AnswersByQuestion, RunningServer, models_folder, serving_process

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Page]
OpenServer = Callable[..., RunningServer]
SAMPLES = sorted((Path(__file__).parents[2] / "fumikura" / "sample_notebook").glob("*.md"))

# Every line that the sources panel has ever shown, for stages that pass quickly.
WATCH = """() => {
  window.seen = new Set();
  const look = () => document.querySelectorAll(".panel-sources .source-meta").forEach((one) => seen.add(one.innerText));
  new MutationObserver(look).observe(document.querySelector(".panel-sources"), { subtree: true, childList: true, characterData: true });
}"""  # noqa: E501


def expect_quote_open(page: Page, quote: str) -> None:
    """The viewer is open and marks exactly the quote, where it can be seen."""
    mark = page.locator("dialog.viewer mark")
    expect(mark).to_have_text(quote)
    expect(mark).to_be_in_viewport()


def expect_no_sideways(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def remove_source(page: Page, name: str, menu: str = "「{}」の操作") -> None:
    page.get_by_role("button", name=menu.format(name)).click()
    page.get_by_role("menuitem", name="削除").click()


def test_sources_are_dropped_asked_about_and_opened_at_the_quote(open_server: OpenServer, visit: OpenPage) -> None:
    model = AnswersByQuestion(ANSWERS)
    page = visit(open_server(model).address)
    expect(page.locator(".panel-sources")).to_contain_text("まだ資料がありません")
    page.evaluate(WATCH)
    long = "".join(f"## {n}番の棚\n\n棚{n}には本が{n * 7}冊あり、係は{n % 31 + 1}日に数えます。\n\n" for n in range(80))
    drop(page, ("図書室.md", LIBRARY), ("棚.md", long))
    for name in ("図書室.md", "棚.md"):
        expect(row(page, name).locator(".source-meta")).to_contain_text("片", timeout=30_000)
    seen = " ".join(page.evaluate("[...seen]"))
    assert "埋め込み" in seen
    assert any(stage in seen for stage in ("送信しています", "順番を待っています", "読んでいます", "分割しています"))
    model.go_on.clear()
    turn = ask(page, ASK_HOURS)
    expect(turn.locator(".hits")).to_contain_text("図書室.md")
    expect(turn.locator(".answer")).to_have_count(0)  # the passages are there before the model has written
    model.go_on.set()
    expect(turn.locator(".answer")).to_contain_text("図書室は九時に開きます。")
    turn.get_by_role("button", name="出典 1 を見る").hover()
    expect(page.get_by_role("tooltip")).to_contain_text(HOURS)
    turn.get_by_role("button", name="出典 1 を見る").click()
    expect_quote_open(page, HOURS)


def test_a_refusal_lists_no_source(open_server: OpenServer, visit: OpenPage) -> None:
    page = visit(open_server(ANSWERS).address)
    drop_both(page)
    turn = ask(page, ASK_MOUNTAIN)
    expect(turn.locator(".refusal")).to_contain_text("資料にありません")
    expect(turn.locator(".used-source, button.mark")).to_have_count(0)
    expect(turn.get_by_role("button", name="メモに残す")).to_have_count(0)


def test_everything_is_there_after_a_reload(open_server: OpenServer, visit: OpenPage) -> None:
    page = visit(open_server(ANSWERS).address)
    drop_both(page)
    ask(page, ASK_HOURS).get_by_role("button", name="メモに残す").click()
    expect(page.locator(".note-row")).to_contain_text("図書室は九時に開きます")
    page.reload()
    expect(page.locator("li.source")).to_have_count(2)
    expect(page.locator(".turn .answer")).to_contain_text("図書室は九時に開きます。")
    page.locator(".turn button.mark").click()
    expect_quote_open(page, HOURS)
    page.locator("dialog.viewer").get_by_role("button", name="閉じる").click()
    page.locator(".note-row").click()
    expect(page.locator(".note-view blockquote")).to_have_text(HOURS)
    page.locator(".note-view button.mark").click()
    expect_quote_open(page, HOURS)


def test_a_source_is_deleted_with_a_way_back_and_its_citation_says_so(open_server: OpenServer, visit: OpenPage) -> None:
    page = visit(open_server(ANSWERS).address)
    drop_both(page)
    turn = ask(page, ASK_HOURS)
    expect(turn.locator("button.mark")).to_be_visible()
    remove_source(page, "図書室.md")
    expect(row(page, "図書室.md")).to_have_count(0)
    page.get_by_role("button", name="元に戻す").click()
    expect(row(page, "図書室.md")).to_be_visible()
    expect(turn.locator(".gone")).to_have_count(0)
    remove_source(page, "図書室.md")
    expect(turn.locator(".gone")).to_contain_text("この資料はもうありません")
    page.reload()  # C086: the citation of yesterday
    page.locator(".turn button.mark").click()
    viewer = page.locator("dialog.viewer")
    expect(viewer.get_by_role("alert")).to_contain_text("「図書室.md」は削除されています")
    expect(viewer.locator("blockquote")).to_have_text(HOURS)


def test_the_page_speaks_english(open_server: OpenServer, visit: OpenPage) -> None:
    page = visit(open_server(ANSWERS).address, locale="en-US")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    drop_both(page)
    expect(row(page, "garden.md")).to_contain_text("chunk")
    turn = ask(page, ASK_FEE)
    expect(turn.locator(".hits")).to_contain_text("Passages found")
    turn.get_by_role("button", name="See source").click()
    expect_quote_open(page, FEE)
    page.locator("dialog.viewer").get_by_role("button", name="Close").click()
    page.get_by_role("button", name="日本語に切り替える").click()
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    expect(turn.get_by_role("button", name="メモに残す")).to_be_visible()


def test_the_whole_flow_fits_a_narrow_dark_screen(open_server: OpenServer, visit: OpenPage) -> None:
    page = visit(open_server(ANSWERS).address, width=360, color_scheme="dark", has_touch=True)
    tabs = page.get_by_role("navigation", name="画面の切り替え")
    tabs.get_by_role("button", name="資料").click()
    drop_both(page)
    expect_no_sideways(page)
    tabs.get_by_role("button", name="質問").click()
    turn = ask(page, ASK_HOURS)
    turn.locator("button.mark").click()
    expect_quote_open(page, HOURS)
    expect_no_sideways(page)
    page.locator("dialog.viewer").get_by_role("button", name="閉じる").click()
    expect_no_sideways(page)
    turn.get_by_role("button", name="メモに残す").click()
    tabs.get_by_role("button", name="メモ").click()
    page.locator(".note-row").click()
    expect(page.locator(".note-view blockquote")).to_have_text(HOURS)
    expect_no_sideways(page)
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).slice(0, 3).map(Number)")
    assert max(dark) < (60 if max(dark) > 1 else 0.3)


def test_a_refused_file_says_why_with_its_name(open_server: OpenServer, visit: OpenPage) -> None:
    page = visit(open_server(ANSWERS).address)
    drop(page, ("写真.png", PICTURE), ("空っぽ.md", ""), ("図書室.md", LIBRARY))
    failed = page.locator(".arrival-failed")
    expect(failed).to_have_count(2, timeout=20_000)
    for name in ("写真.png", "空っぽ.md"):
        expect(failed.filter(has=page.locator(".arrival-name", has_text=name)).get_by_role("alert")).to_contain_text(
            name
        )
    expect(row(page, "図書室.md")).to_be_visible()
    page.get_by_role("button", name="消す: 空っぽ.md").click()
    expect(failed).to_have_count(1)


def test_the_page_says_that_the_server_is_away_and_goes_on(open_server: OpenServer, visit: OpenPage) -> None:
    server = open_server(ANSWERS)
    page = visit(server.address)
    drop_both(page)
    server.__exit__()
    page.locator(".composer textarea").fill(ASK_HOURS)
    page.keyboard.press("Enter")
    expect(page.locator(".banner")).to_contain_text("サーバーにつながりません")
    open_server(ANSWERS, port=server.port)
    expect(page.locator(".banner")).to_have_count(0)
    page.locator(".turn").get_by_role("button", name="もう一度").click()
    expect(page.locator(".turn .answer")).to_contain_text("図書室は九時に開きます。")
    expect(page.locator("li.source")).to_have_count(2)


@pytest.mark.live
def test_the_real_model_answers_and_refuses_on_the_page(tmp_path: Path, visit: OpenPage) -> None:
    with serving_process(tmp_path, models_folder(), *SAMPLES) as address:
        page = visit(address)
        page.get_by_role("button", name="ノートブック:").click()
        page.get_by_role("menuitemradio", name="sample").click()
        page.get_by_role("button", name="里芋は何グラム？").click()
        turn = page.locator(".turn").first
        expect(turn.locator(".hits")).to_be_visible()
        expect(turn.locator(".answer")).to_contain_text("600", timeout=300_000)
        turn.locator("button.mark").first.click()
        expect(page.locator("dialog.viewer mark").first).to_contain_text("里芋　600g")
        refused = ask(page, "富士山の標高は何メートル？")
        expect(refused.locator(".refusal")).to_contain_text("資料にありません", timeout=300_000)
        expect(refused.locator(".used-source, button.mark")).to_have_count(0)
