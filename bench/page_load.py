"""The page in a real Chromium with an empty cache: when it can be used, and what has come over the wire by then."""

import runpy
import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, sync_playwright

from bench.report import Figure, at_most

LOADS = 9  # the first warms the browser and is not counted
SETTLED_MS = 1500  # all that the page fetches by itself is there after a third of it
USABLE = ".panel-chat textarea"
# Noted in the page, because a look from outside comes up to 100 ms late. Usable is what is there and has been painted.
WATCH = f"""(() => {{
  const watch = new MutationObserver(() => {{
    if (!document.querySelector({USABLE!r})?.getBoundingClientRect().height) return;
    window.usable = performance.now();
    watch.disconnect();
  }});
  watch.observe(document, {{ childList: true, subtree: true }});
}})()"""
READ = "Math.max(usable, performance.getEntriesByName('first-contentful-paint')[0].startTime)"


@dataclass
class Load:
    """One load: `usable_ms` after the navigation began; bytes by path, with the replies' headers."""

    usable_ms: float = 0.0
    paths: dict[str, str] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)
    whole: dict[str, int] = field(default_factory=dict)


def page_figures(address: str) -> list[Figure]:
    """Load the page again and again; no figures where there is no Chromium."""
    find = Path(__file__).parents[1] / "scripts" / "find_chromium.py"
    chromium = runpy.run_path(str(find))["find_chromium"]()
    if chromium is None:
        return []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        times = [_load(browser, address, counted=False).usable_ms for _ in range(LOADS)][1:]
        load = _load(browser, address, counted=True)
        browser.close()
    files = {path: size for path, size in load.whole.items() if not path.startswith("/api/")}
    return [
        at_most("page usable (field for a question)", statistics.median(times), "ms", 300),
        Figure("requests until usable", len(load.first), ""),
        at_most("bytes until usable, with headers", sum(load.first.values()) / 1000, "kB", 150),
        Figure("files of the whole page", len(files), ""),
        at_most("bytes of the whole page, with headers", sum(files.values()) / 1000, "kB", 150),
        Figure("the same with its first API replies", sum(load.whole.values()) / 1000, "kB"),
    ]


def _load(browser: Browser, address: str, counted: bool) -> Load:
    """Load once; `counted` takes the bytes, too, which makes it slower."""
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(WATCH)
    load = Load()
    ended = _follow(page, load) if counted else {}
    page.goto(address)
    page.locator(USABLE).wait_for()
    page.wait_for_timeout(SETTLED_MS)
    load.usable_ms = page.evaluate(READ)
    begun = page.evaluate("performance.timeOrigin") / 1000
    load.first = {path: load.whole[path] for path, time in ended.items() if time - begun <= load.usable_ms / 1000}
    context.close()
    return load


def _follow(page: Page, load: Load) -> dict[str, float]:
    """Note every reply's bytes, and when it had come: seconds on the wall clock."""
    ended: dict[str, float] = {}
    offset = 0.0  # between the protocol's clock and the wall's

    def begun(event: dict[str, Any]) -> None:
        nonlocal offset
        offset = event["wallTime"] - event["timestamp"]
        load.paths[event["requestId"]] = urlsplit(event["request"]["url"]).path

    def done(event: dict[str, Any]) -> None:
        path = load.paths[event["requestId"]]
        load.whole[path] = load.whole.get(path, 0) + int(event["encodedDataLength"])
        ended.setdefault(path, event["timestamp"] + offset)

    protocol = page.context.new_cdp_session(page)
    protocol.send("Network.enable")
    protocol.on("Network.requestWillBeSent", begun)
    protocol.on("Network.loadingFinished", done)
    return ended
