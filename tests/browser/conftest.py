"""A real chromium for one module at a time, and a page whose API a test scripts."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from page_stub import PageStub, running_page
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
# The stand-in refuses some requests on purpose, and chromium logs every refusal.
REFUSED = re.compile(r"^Failed to load resource")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def stub_page() -> Iterator[PageStub]:
    with running_page() as stub:
        yield stub


@pytest.fixture
def open_page(browser: Browser, stub_page: PageStub) -> Iterator[Callable[..., Page]]:
    """Open the page; at the end nothing may have failed in it, and nothing may have left this machine."""
    faults: list[str] = []
    contexts = []

    def opened(locale: str = "ja-JP", width: int = 1280, conversation: str = "", **options: Any) -> Page:
        context = browser.new_context(locale=locale, viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(8000)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda line: faults.append(line.text) if line.type in ("error", "warning") else None)
        page.on("request", lambda request: faults.append(request.url) if not _is_ours(request.url, stub_page) else None)
        page.add_init_script(
            f"if (!localStorage.length) localStorage.setItem('fumikura.conversation.1', '{conversation}')"
        )
        page.goto(stub_page.url)
        page.locator(".panel-chat textarea").wait_for()
        if conversation:
            page.locator(".turn").first.wait_for(state="attached")
        return page

    yield opened
    stub_page.go_on.set()
    for context in contexts:
        context.close()
    assert [fault for fault in faults if not REFUSED.search(fault)] == []


def _is_ours(url: str, stub: PageStub) -> bool:
    return url.startswith((stub.url, "data:", "blob:", "about:"))
