"""What a person does on the page, in a real chromium over the real server; only the model's answers are prepared."""

import re
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
    shot,
    wait_until,
)
from playwright.sync_api import Page, expect
from real_server import AnswersByQuestion, RunningServer, models_folder, serving_process

pytestmark = pytest.mark.browser

TOKEN = "a-token-for-tests-only-0123"
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
    turn.locator("button.mark").hover()
    expect(page.get_by_role("tooltip")).to_contain_text(HOURS)
    turn.locator("button.mark").click()
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
    wait_for_all_parts(page)
    server.__exit__()
    page.locator(".composer textarea").fill(ASK_HOURS)
    page.keyboard.press("Enter")
    expect(page.locator(".banner")).to_contain_text("サーバーにつながりません")
    open_server(ANSWERS, port=server.port)
    expect(page.locator(".banner")).to_have_count(0)
    page.locator(".turn").get_by_role("button", name="もう一度").click()
    expect(page.locator(".turn .answer")).to_contain_text("図書室は九時に開きます。")
    expect(page.locator("li.source")).to_have_count(2)


def test_a_question_that_got_no_answer_outlives_the_reload_of_the_page(
    open_server: OpenServer, visit: OpenPage
) -> None:
    """The parts of the page that could not be fetched are: by a reload, on its own."""
    server = open_server(ANSWERS)
    page = visit(server.address)
    drop_both(page)
    server.__exit__()
    ask(page, ASK_HOURS)
    field = page.locator(".composer textarea")
    field.fill("まだ送っていない文")
    page.get_by_role("button", name="資料を加える").click()
    page.get_by_role("menuitem", name="文章を貼り付ける").click()  # a part that is fetched on a click
    expect(page.locator(".banner")).to_be_visible()
    with page.expect_event("load"):
        open_server(ANSWERS, port=server.port)
    expect(field).to_have_value(f"{ASK_HOURS}\nまだ送っていない文")


def test_a_question_asked_where_no_conversation_could_be_read_stays(open_server: OpenServer, visit: OpenPage) -> None:
    server = open_server(ANSWERS)
    page = visit(server.address)
    drop_both(page)
    expect(ask(page, ASK_HOURS).locator(".answer")).to_be_visible()
    page.route("**/conversations", lambda route: route.abort())
    page.reload()
    expect(page.get_by_text("会話を読めませんでした。")).to_be_visible()
    wait_for_all_parts(page)
    server.__exit__()
    page.unroute("**/conversations")
    ask(page, ASK_FEE)
    expect(page.locator(".banner")).to_be_visible()
    open_server(ANSWERS, port=server.port)
    expect(page.locator(".turn")).to_have_count(2)
    again = page.locator(".turn", has_text=ASK_FEE)
    make_notebook(page, "二冊目")
    expect(page.locator(".turn")).to_have_count(0)
    page.get_by_role("button", name="ノートブック:").click()
    page.get_by_role("menuitemradio", name="最初のノートブック").click()
    expect(page.locator(".turn")).to_have_count(2)
    again.get_by_role("button", name="もう一度").click()
    expect(again.locator(".answer")).to_contain_text("1,500 yen")
    expect(page.locator(".turn")).to_have_count(2)


def test_an_unsent_question_stays_with_its_notebook_and_language(open_server: OpenServer, visit: OpenPage) -> None:
    page = visit(open_server(ANSWERS).address)
    field = page.locator(".composer textarea")
    page.get_by_role("button", name="ノートブック:").wait_for()
    field.fill("一つ目の文")
    page.get_by_role("button", name="Switch to English").click()
    expect(field).to_have_value("一つ目の文")
    page.get_by_role("button", name="日本語に切り替える").click()
    make_notebook(page, "二冊目")
    expect(field).to_have_value("")
    field.fill("二つ目の文")
    page.reload()
    expect(field).to_have_value("二つ目の文")
    page.get_by_role("button", name="ノートブック:").click()
    page.get_by_role("menuitemradio", name="最初のノートブック").click()
    expect(field).to_have_value("一つ目の文")


def test_an_expired_session_gives_back_the_question_and_the_place(open_server: OpenServer, visit: OpenPage) -> None:
    page = visit(open_server(ANSWERS, token=TOKEN).address + "/#settings")
    sign_in(page)
    expect(page).to_have_url(re.compile("/#settings$"))
    page.get_by_role("link", name="設定を閉じる").click()
    page.locator(".composer textarea").fill("書きかけの質問")
    page.get_by_role("link", name="設定").click()
    page.context.clear_cookies()
    page.evaluate("dispatchEvent(new Event('focus'))")  # asks the server
    sign_in(page)
    expect(page).to_have_url(re.compile("/#settings$"))
    page.get_by_role("link", name="設定を閉じる").click()
    expect(page.locator(".composer textarea")).to_have_value("書きかけの質問")


def test_a_notebook_deleted_elsewhere_is_named(open_server: OpenServer, visit: OpenPage) -> None:
    server = open_server(ANSWERS)
    page = visit(server.address)
    make_notebook(page, "二冊目")
    expect(page.get_by_role("button", name="ノートブック: 二冊目")).to_be_visible()
    expect(page.locator(".panel-sources")).to_contain_text("まだ資料がありません")
    page.request.delete(f"{server.address}/api/notebooks/二冊目", headers={"Origin": server.address})
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(page.locator(".toast")).to_contain_text("「二冊目」はもうありません")
    expect(page.locator(".toast")).to_have_count(1)
    expect(page.get_by_role("button", name="ノートブック: 最初のノートブック")).to_be_visible()
    shot(page, "notebook-gone")


def test_dropped_folders_say_what_cannot_be_added(open_server: OpenServer, visit: OpenPage, tmp_path: Path) -> None:
    full, empty = tmp_path / "棚卸し", tmp_path / "空き箱"
    (full / "奥").mkdir(parents=True)
    empty.mkdir()
    (full / "奥" / "図書室.md").write_text(LIBRARY, encoding="utf-8")
    page = visit(open_server(ANSWERS).address)
    expect(page.locator(".panel-sources")).to_contain_text("まだ資料がありません")
    # One that the system refuses to read; everything else is read as it is.
    page.evaluate("""() => {
      const entryOf = DataTransferItem.prototype.webkitGetAsEntry;
      const key = { isFile: true, name: "鍵.md", fullPath: "/棚卸し/鍵.md", file: (_, no) => no(new DOMException("no")) };
      DataTransferItem.prototype.webkitGetAsEntry = function () {
        const entry = entryOf.call(this);
        const makeReader = entry.createReader.bind(entry);
        entry.createReader = () => {
          const reader = makeReader();
          const list = reader.readEntries.bind(reader);
          reader.readEntries = (done, no) => list((some) => done(entry.name === "棚卸し" && some.length ? [...some, key] : some), no);
          return reader;
        };
        return entry;
      };
    }""")  # noqa: E501
    drop_paths(page, full, empty)
    expect(row(page, "棚卸し/奥/図書室.md")).to_be_visible()
    expect(page.locator(".toast", has_text="「空き箱」には何も入っていません")).to_be_visible()
    expect(page.locator(".toast-error")).to_contain_text("「棚卸し/鍵.md」を読めませんでした")
    shot(page, "dropped")


def test_the_focus_goes_to_the_next_row_when_a_source_is_deleted(open_server: OpenServer, visit: OpenPage) -> None:
    page = visit(open_server(ANSWERS).address)
    drop_both(page)
    expect(page.locator("button.gauge, .include-all").first).to_be_visible()
    names = [one.get_attribute("aria-label") or "" for one in page.locator(".source-name").all()]
    for name, next_one in zip(names, [f"button[aria-label='{names[1]}']", ".add-button"], strict=True):
        page.get_by_role("button", name=f"「{name}」の操作").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("menuitem").first).to_be_focused()
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        expect(row(page, name)).to_have_count(0)
        expect(page.locator(next_one)).to_be_focused()


def wait_for_all_parts(page: Page) -> None:
    """The Markdown parser comes last: were it missing, the page would begin anew when the server is back."""
    for part in ("/markdown-it/", "/markdown-it-cjk-friendly/", "/dompurify/"):  # listed once all is there
        wait_until(page, f"performance.getEntriesByType('resource').some((one) => one.name.includes('{part}'))")


def make_notebook(page: Page, name: str) -> None:
    page.get_by_role("button", name="ノートブック:").click()
    page.get_by_role("menuitem", name="新しいノートブック").click()
    page.get_by_label("ノートブックの名前").fill(name)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name=f"ノートブック: {name}")).to_be_visible()


def sign_in(page: Page) -> None:
    page.locator("#token").fill(TOKEN)
    page.locator("#enter").click()
    expect(page.locator("#main")).to_be_visible()


def drop_paths(page: Page, *paths: Path) -> None:
    """Drop files and folders as a person does, from outside the browser."""
    given = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    devtools = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        devtools.send("Input.dispatchDragEvent", {"type": kind, "x": 640, "y": 400, "data": given})


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
