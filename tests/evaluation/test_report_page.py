"""The report in a real browser: readable without a script and without a network, in light and dark."""

import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from fumikura.evaluation.report_html import report_html

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = runpy.run_path(str(REPOSITORY / "scripts" / "find_chromium.py"))["find_chromium"]()
    assert chromium, "these tests need Chromium (Debian/Ubuntu: apt-get install chromium)"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_opens_and_its_answers_unfold(trial, browser: Browser, tmp_path: Path, scheme: str) -> None:
    path = tmp_path / "report.html"
    path.write_text(report_html([trial.run()], "en"), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False, offline=True, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    answer = page.locator("details", has_text="図書室の開館は何時ですか。").first
    assert not page.get_by_text("開館は九時です。[").is_visible()
    answer.locator("summary").first.click()
    assert page.get_by_text("開館は九時です。[").is_visible()
    answer.get_by_text("passages given").click()
    assert answer.get_by_text("閉館は十七時です").first.is_visible()
    assert page.locator("svg circle").count() == 1
    assert page.get_by_role("row", name="all 3 2.00 [2.00, 2.00]").is_visible()
    assert asked == [path.as_uri()]
    context.close()
