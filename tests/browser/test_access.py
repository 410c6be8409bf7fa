"""Every state of the real page under axe: light and dark, wide and narrow."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from page_steps import ANSWERS, ASK_HOURS, ASK_MOUNTAIN, GARDEN, LIBRARY, PICTURE, ask, drop, row
from playwright.sync_api import Page, Route, expect
from real_server import AnswersByQuestion, RunningServer

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Page]
OpenServer = Callable[..., RunningServer]
LOOKS = [("light", 1280), ("light", 360), ("dark", 1280), ("dark", 360)]
TOKEN = "a-token-for-tests-only-0123"
SHOTS = os.environ.get("SHOTS")  # a folder: also keep a picture of each state there


class Checked:
    """A page whose states are checked one after another; `found` has what axe says of each."""

    def __init__(self, page: Page, look: str) -> None:
        self.page = page
        self.found: list[str] = []
        self._look = look

    def state(self, name: str) -> None:
        """Check the page as it is now."""
        for one in Axe().run(self.page).response["violations"]:
            if one["impact"] in ("serious", "critical"):
                nodes = one["nodes"]
                self.found.append(f"{name}: {one['id']} ×{len(nodes)}: {nodes[0]['html'][:160]} {nodes[0]['any'][:1]}")
        if self.page.viewport_size and self.page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            self.found.append(f"{name}: scrolls sideways")
        if SHOTS:
            self.page.screenshot(path=f"{SHOTS}/{self._look}-{name}.png", animations="disabled")

    def tab(self, name: str) -> None:
        """Choose a panel where tabs do."""
        button = self.page.locator(".tabs").get_by_role("button", name=name, exact=True)
        if button.is_visible():
            button.click()

    def menu(self, button: str | re.Pattern[str], name: str, entry: str = "", dialog: str = "") -> None:
        """Check an open menu, and the dialog behind one of its entries."""
        self.page.get_by_role("button", name=button).click()
        self.state(f"menu-{name}")
        if not entry:
            return self.page.keyboard.press("Escape")
        self.page.get_by_role("menuitem", name=entry, exact=True).click()
        expect(self.page.locator("dialog.dialog")).to_be_visible()
        self.state(f"dialog-{dialog}")
        return self.page.keyboard.press("Escape")


@pytest.fixture(params=LOOKS, ids=lambda look: f"{look[0]}-{look[1]}")
def look(request: pytest.FixtureRequest) -> tuple[str, int]:
    """A colour scheme and a width."""
    chosen: tuple[str, int] = request.param
    return chosen


def opened(visit: OpenPage, address: str, look: tuple[str, int]) -> Checked:
    page = visit(address, width=look[1], color_scheme=look[0], reduced_motion="reduce")
    return Checked(page, f"{look[0]}-{look[1]}")


def show_all_stages(page: Page) -> None:
    """The sources as they are, and one in each other stage beside them."""
    half = {"name": "途中.md", "source_id": "s8", "status": "keyword_ready", "chunk_count": 340, "vector_count": 100}
    states = [half, {"name": "白紙.pdf", "source_id": "s9", "status": "no_text"}]
    job = {"job_id": 9, "kind": "add", "name": "次.md", "state": "running", "step": "split", "done_count": 3}
    more = {"total_count": 9, "error": None, "source_id": None, "created_at": "", "updated_at": ""}
    notices = ["埋め込みが止まっています。"]
    # Read once: an answer fetched in the handler may outlive the page, and fails then (seen in CI).
    notebook = f"{page.url.split('?')[0].rstrip('/')}/api/notebooks/default"
    listed = page.request.get(f"{notebook}/sources").json()["sources"]
    now = page.request.get(f"{notebook}/progress").json()

    def answer(route: Route) -> None:
        if route.request.url.endswith("/progress"):
            embedding = [{"source_id": "s8", "vector_count": 120, "chunk_count": 340}]
            jobs = [*now["jobs"], {**job, **more}]
            route.fulfill(json={**now, "listing": 999, "jobs": jobs, "embedding": embedding, "notices": notices})
        else:
            route.fulfill(json={"sources": listed + [listed[0] | one for one in states], "listing": 999})

    page.route(re.compile(r"/notebooks/[^/]+/(sources|progress)$"), answer)


def test_sources_and_dialogs(open_server: OpenServer, visit: OpenPage, look: tuple[str, int]) -> None:
    checked = opened(visit, open_server(ANSWERS).address, look)
    page = checked.page
    page.locator(".chat-empty").wait_for()
    checked.state("empty-chat")
    checked.tab("資料")
    checked.state("empty-sources")
    drop(page, ("図書室.md", LIBRARY), ("garden.md", GARDEN), ("写真.png", PICTURE))
    expect(row(page, "図書室.md")).to_be_visible()
    expect(page.locator(".arrival-failed")).to_be_visible(timeout=20_000)
    show_all_stages(page)
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(row(page, "途中.md")).to_contain_text("埋め込み")
    expect(page.locator(".arrival-failed")).to_be_visible()
    checked.state("sources-all-stages")
    checked.menu("資料を加える", "add", "文章を貼り付ける", "paste")
    checked.menu("資料を加える", "add", "ウェブページのアドレス", "url")
    checked.menu("「図書室.md」の操作", "source")
    page.get_by_role("button", name="「図書室.md」の操作").click()
    page.get_by_role("menuitem", name="名前を変える").click()
    checked.state("source-rename")
    page.keyboard.press("Escape")
    checked.menu(re.compile("^ノートブック:"), "notebook", "名前を変える", "rename")
    checked.menu(re.compile("^ノートブック:"), "notebook", "ノートブックを削除", "delete")
    page.locator("button.source-name", has_text="図書室.md").click()
    page.locator(".viewer-text").wait_for()
    checked.state("viewer-source")
    assert checked.found == []


def test_answers_and_notes(open_server: OpenServer, visit: OpenPage, look: tuple[str, int], tmp_path: Path) -> None:
    (tmp_path / "図書室.md").write_text(LIBRARY, encoding="utf-8")
    model = AnswersByQuestion(ANSWERS)
    checked = opened(visit, open_server(model, sources=(tmp_path / "図書室.md",)).address, look)
    page = checked.page
    model.go_on.clear()
    turn = ask(page, ASK_HOURS)
    expect(turn.locator(".draft")).to_be_visible()
    checked.state("answering")
    model.go_on.set()
    turn.locator("button.mark").hover()
    expect(page.get_by_role("tooltip")).to_be_visible()
    checked.state("popover")
    page.mouse.move(0, 0)
    turn.locator(".hits summary").click()
    checked.state("answered")
    turn.get_by_role("button", name="この答えができるまで").click()
    page.locator(".receipt .step").first.wait_for()
    for summary in page.locator(".receipt summary").all():
        summary.click()
    checked.state("receipt")
    page.keyboard.press("Escape")
    turn.locator("button.mark").click()
    page.locator("dialog.viewer mark").wait_for()
    checked.state("viewer")
    page.keyboard.press("Escape")
    expect(ask(page, ASK_MOUNTAIN).locator(".refusal")).to_be_visible()
    checked.state("refusal")
    turn.get_by_role("button", name="メモに残す").click()
    checked.state("toast")
    check_notes(checked)
    page.context.set_offline(True)
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(page.locator(".banner")).to_be_visible()
    checked.state("offline")
    assert checked.found == []


def check_notes(checked: Checked) -> None:
    page = checked.page
    checked.tab("メモ")
    page.locator(".note-row").wait_for()
    checked.state("notes")
    page.locator(".note-row").click()
    checked.state("note-view")
    page.get_by_role("button", name="書き直す").click()
    page.locator(".note-editor").wait_for()
    checked.state("note-edit")
    page.get_by_role("button", name="できあがり").click()


def test_what_is_read_in_full(open_server: OpenServer, visit: OpenPage, look: tuple[str, int], tmp_path: Path) -> None:
    texts = {"図書室.md": LIBRARY, "garden.md": GARDEN, "棚.md": "棚には本が七冊あり、係が毎日数えます。\n" * 600}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    server = open_server(ANSWERS, sources=tuple(tmp_path / name for name in texts))
    checked = opened(visit, server.address, look)
    page = checked.page
    checked.tab("資料")
    row(page, "図書室.md").hover()
    page.get_by_role("button", name="「図書室.md」をピン留め").click()
    expect(page.locator("button.gauge")).to_contain_text("準備できました")
    checked.state("gauge")
    checked.tab("質問")
    page.get_by_role("button", name=re.compile("^この質問だけ")).click()
    checked.state("menu-mode")
    page.get_by_role("menuitemradio", name="ピン留め＋検索").click()
    checked.state("own-mode")
    expect(ask(page, ASK_HOURS).locator(".read-how")).to_be_visible()
    checked.state("answer-hybrid")
    checked.tab("資料")
    page.locator("button.gauge").click()
    expect(page.locator(".core-answers li")).to_have_count(1)
    page.locator(".core-shares li", has_text="棚.md").get_by_role("button").click()
    expect(page.locator("dialog [role=alert]")).to_be_visible()
    checked.state("dialog-core")
    assert checked.found == []


def test_settings(open_server: OpenServer, visit: OpenPage, look: tuple[str, int]) -> None:
    checked = opened(visit, open_server(ANSWERS).address + "/#settings", look)
    page = checked.page
    page.get_by_label("一片の長さ").wait_for()
    checked.state("settings")
    page.get_by_label("一片の長さ").fill("999999")
    page.get_by_role("button", name="変更を保存").click()
    expect(page.locator(".setting .field-error")).to_be_visible()
    checked.state("settings-error")
    assert checked.found == []


def test_login(open_server: OpenServer, visit: OpenPage, look: tuple[str, int]) -> None:
    checked = opened(visit, open_server(ANSWERS, token=TOKEN).address + "/login", look)
    page = checked.page
    page.locator("#token").wait_for()
    checked.state("login")
    page.locator("#token").fill("wrong")
    page.locator("#enter").click()
    expect(page.locator("#error")).not_to_be_empty()
    checked.state("login-error")
    page.locator("#token").fill(TOKEN)
    page.locator("#enter").click()
    expect(page.locator(".panel-chat")).to_be_visible()
    assert checked.found == []
