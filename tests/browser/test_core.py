"""What is read in full, as a person sees and changes it: a real chromium over the real server, answers prepared."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from page_steps import ANSWERS, ASK_HOURS, GARDEN, HOURS, LIBRARY, ask, row
from playwright.sync_api import Locator, Page, Route, expect
from real_server import RunningServer

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Page]
OpenServer = Callable[..., RunningServer]
# About 9,000 tokens: more than the prepared model's window of 8,192 holds.
SHELVES = "".join(f"## {n}番の棚\n\n棚{n}には本が{n * 7}冊あり、係は{n % 31 + 1}日に数えます。\n\n" for n in range(400))
SMALL = {"図書室.md": LIBRARY, "garden.md": GARDEN}
MIXED = {"図書室.md": LIBRARY, "棚.md": SHELVES}


@pytest.fixture
def open_page_with(open_server: OpenServer, visit: OpenPage, tmp_path: Path) -> Callable[..., Page]:
    """Open the page of a notebook with these texts."""

    def opened(texts: dict[str, str], **options: object) -> Page:
        paths = [tmp_path / name for name in texts]
        for path in paths:
            path.write_text(texts[path.name], encoding="utf-8")
        return visit(open_server(ANSWERS, sources=tuple(paths)).address, **options)

    return opened


def gauge(page: Page) -> Locator:
    return page.locator("button.gauge")


def open_core(page: Page) -> Locator:
    """Click on the gauge; return the dialog."""
    gauge(page).click()
    dialog = page.get_by_role("dialog", name="資料の読み方")
    expect(dialog).to_be_visible()
    return dialog


def choose_for_this_question(page: Page, name: str) -> None:
    page.get_by_role("button", name=re.compile("^この質問だけ")).click()
    page.get_by_role("menuitemradio", name=name, exact=True).click()


def test_what_fits_is_read_in_full_and_the_answer_says_so(open_page_with: Callable[..., Page]) -> None:
    page = open_page_with(SMALL)
    expect(gauge(page)).to_contain_text("全文を読みます")
    expect(gauge(page)).to_contain_text("準備できました")
    turn = ask(page, ASK_HOURS)
    expect(turn.locator(".answer")).to_contain_text("図書室は九時に開きます。")
    expect(turn.locator(".read-how")).to_have_text("全文を読みました")
    turn.get_by_role("button", name="この答えができるまで").click()
    step = page.locator(".step").last
    expect(step).to_contain_text("読み方全文")
    expect(step).to_contain_text(re.compile(r"常駐の資料（トークン）[\d,]+"))
    expect(step).to_contain_text(re.compile(r"うち使い回し\d"))
    expect(step).to_contain_text(re.compile(r"うち新しく読んだ[\d,]+"))
    expect(step).to_contain_text(re.compile(r"先頭部の印[0-9a-f]{12}(?![0-9a-f])"))
    page.keyboard.press("Escape")
    dialog = open_core(page)
    expect(dialog.locator(".core-answers li")).to_contain_text("0 % を使い回し")
    expect(dialog.locator(".core-answers li")).to_contain_text("初めて読みました")


def test_a_pinned_source_is_read_in_full_beside_the_search(open_page_with: Callable[..., Page]) -> None:
    page = open_page_with(MIXED)
    expect(gauge(page)).to_contain_text("検索して読みます")
    page.get_by_role("button", name="「図書室.md」の操作").click()
    page.get_by_role("menuitem", name="ピン留めする").click()
    expect(gauge(page)).to_contain_text("ピン留め 1 件の全文＋検索")
    pin = row(page, "図書室.md").get_by_role("button", name="「図書室.md」をピン留め")
    expect(pin).to_have_attribute("aria-pressed", "true")
    turn = ask(page, ASK_HOURS)
    expect(turn.locator(".read-how")).to_have_text("ピン留め＋検索")
    turn.get_by_role("button", name="出典 1 を見る").hover()
    expect(page.get_by_role("tooltip")).to_contain_text(HOURS)
    pin.click()
    expect(gauge(page)).to_contain_text("検索して読みます")


def test_a_pin_that_does_not_fit_is_refused_with_the_numbers(open_page_with: Callable[..., Page]) -> None:
    page = open_page_with(MIXED)
    pin = row(page, "棚.md").get_by_role("button", name="「棚.md」をピン留め")
    row(page, "棚.md").hover()
    pin.click()
    numbers = re.compile(r"常駐させる資料 1 件は [\d,]+ トークンで、入るのは [\d,]+ トークンまでです")
    expect(page.locator(".toast")).to_contain_text(numbers)
    expect(pin).to_have_attribute("aria-pressed", "false")
    expect(gauge(page)).to_contain_text("検索して読みます")
    dialog = open_core(page)
    large = dialog.locator(".core-shares li", has_text="棚.md")
    expect(large).to_contain_text("全文は入りません")
    expect(dialog.locator(".core-shares li", has_text="図書室.md")).not_to_contain_text("入りません")
    large.get_by_role("button").click()
    expect(dialog.get_by_role("alert")).to_contain_text(numbers)
    expect(large.get_by_role("button")).to_have_attribute("aria-pressed", "false")
    dialog.locator(".core-shares li", has_text="図書室.md").get_by_role("button").click()
    expect(dialog.get_by_role("alert")).to_have_count(0)
    expect(dialog).to_contain_text("ピン留め 1 件の全文＋検索")
    expect(row(page, "図書室.md").locator(".pinned")).to_have_count(1)


def test_the_notebooks_mode_is_chosen_and_stays(open_page_with: Callable[..., Page]) -> None:
    page = open_page_with(SMALL)
    dialog = open_core(page)
    expect(dialog).to_contain_text(re.compile(r"使っている約[\d,]+トークン"))
    expect(dialog.get_by_role("radio", name="自動")).to_be_checked()
    dialog.get_by_role("radio", name="検索だけ").check()
    expect(dialog).to_contain_text("検索して読みます")
    page.keyboard.press("Escape")
    expect(gauge(page)).to_be_focused()
    expect(ask(page, ASK_HOURS).locator(".read-how")).to_have_text("検索しました")
    page.reload()
    expect(gauge(page)).to_contain_text("検索して読みます")
    expect(open_core(page).get_by_role("radio", name="検索だけ")).to_be_checked()


def test_a_chosen_mode_stays_shown_while_it_is_saved(open_page_with: Callable[..., Page]) -> None:
    """Also when the dialog is drawn anew before the server has answered."""
    page = open_page_with(SMALL)
    expect(gauge(page)).to_contain_text("準備できました")
    held: list[Route] = []
    page.route(
        re.compile(r"/notebooks/[^/]+(/core)?$"),
        lambda route: (
            held.append(route)
            if route.request.url.endswith("/core") or route.request.method == "PATCH"
            else route.continue_()
        ),
    )
    dialog = open_core(page)
    chosen = dialog.get_by_role("radio", name="検索だけ")
    chosen.check()
    page.wait_for_timeout(100)
    reading, saving = held
    held.clear()
    with page.expect_response(reading.request.url):
        reading.continue_()
    page.wait_for_timeout(300)  # drawn anew with what was read
    expect(chosen).to_be_checked()
    page.route("**/*", lambda route: route.continue_())
    saving.continue_()
    expect(dialog).to_contain_text("検索して読みます")
    expect(chosen).to_be_checked()


def test_a_mode_that_cannot_be_had_says_why(open_page_with: Callable[..., Page]) -> None:
    page = open_page_with(MIXED)
    dialog = open_core(page)
    dialog.get_by_role("radio", name=re.compile("^全文")).click()
    expect(dialog.locator(".notice").first).to_contain_text(re.compile(r"入るのは [\d,]+ トークンまで"))
    expect(dialog.get_by_role("radio", name="自動")).to_be_checked()
    page.keyboard.press("Escape")
    expect(gauge(page)).to_contain_text("検索して読みます")
    choose_for_this_question(page, "全文")
    expect(ask(page, ASK_HOURS).locator(".turn-error")).to_contain_text("入るのは")


def test_one_question_has_its_own_mode(open_page_with: Callable[..., Page]) -> None:
    page = open_page_with(SMALL)
    expect(gauge(page)).to_contain_text("準備できました")
    choose_for_this_question(page, "検索だけ")
    expect(page.get_by_role("button", name="この質問だけ: 検索だけ")).to_have_text("検索だけ")
    expect(page.locator(".composer textarea")).to_be_focused()
    turn = ask(page, ASK_HOURS)
    expect(turn.locator(".read-how")).to_have_text("検索しました")
    expect(page.get_by_role("button", name="この質問だけ: ノートブックの設定どおり")).to_be_visible()
    expect(ask(page, ASK_HOURS).locator(".read-how")).to_have_text("全文を読みました")
    turn.get_by_role("button", name="もう一度").click()
    expect(page.locator(".turn").nth(2).locator(".read-how")).to_have_text("検索しました")


def test_the_keyboard_and_english_at_360_pixels(open_page_with: Callable[..., Page]) -> None:
    page = open_page_with(SMALL, locale="en-GB", width=360)
    page.get_by_role("navigation", name="Panels").get_by_role("button", name="Sources").click()
    expect(gauge(page)).to_contain_text("Read in full")
    gauge(page).focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="How sources are read")
    expect(dialog.get_by_role("radio", name="Automatic")).to_be_checked()
    dialog.get_by_role("radio", name="Automatic").focus()
    page.keyboard.press("ArrowDown")
    expect(dialog.get_by_role("radio", name="Search only")).to_be_checked()
    expect(dialog).to_contain_text("Searched for each question")
    assert page.evaluate("document.querySelector('dialog').scrollWidth <= innerWidth")


def test_the_computation_is_followed_and_its_failure_is_said(open_page_with: Callable[..., Page]) -> None:
    page = open_page_with(SMALL)
    expect(gauge(page)).to_contain_text("準備できました")
    progress = page.request.get(f"{page.url}api/notebooks/default/progress").json()
    state = {"stage": "computing", "done_tokens": 1200, "total_tokens": 6600, "notice": None}
    failed = {**state, "stage": "failed", "notice": "モデルのサーバーが答えません。"}
    page.route("**/progress", lambda route: route.fulfill(json={**progress, "core": state}))
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(gauge(page)).to_contain_text("準備中 1,200 / 6,600")
    page.unroute("**/progress")
    page.route("**/progress", lambda route: route.fulfill(json={**progress, "core": failed}))
    expect(gauge(page)).to_contain_text("準備できません")  # a busy page looks again by itself
    expect(gauge(page)).to_contain_text("モデルのサーバーが答えません。")
