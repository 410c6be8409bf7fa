"""Makes docs/screenshots/*.png: the real server over the sample notebook, the embedded model, a real Chromium.

Usage: .venv/bin/python scripts/take_screenshots.py [FOLDER]. Takes ten minutes: the model reads and answers in earnest.
"""

import runpy
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

REPOSITORY = Path(__file__).parents[1]
sys.path.insert(0, str(REPOSITORY / "tests"))

from real_server import models_folder, serving_process  # noqa: E402

SAMPLES = sorted((REPOSITORY / "fumikura" / "sample_notebook").glob("*.md"))
PATIENCE_MS = 300_000
POTATO = "里芋は何グラム？"
MOUNTAIN = "富士山の標高は何メートル？"
DROP = """files => {
  const transfer = new DataTransfer();
  for (const [name, text] of files) transfer.items.add(new File([text], name));
  const about = { dataTransfer: transfer, bubbles: true, cancelable: true };
  for (const kind of ["dragover", "drop"]) document.body.dispatchEvent(new DragEvent(kind, about));
}"""
PICTURE = "\x89PNG\r\n\x1a\n" + "\0\1\2\3" * 40
SHELVES = "# 棚の帳面\n\n" + "".join(f"## {n}番の棚\n\n棚{n}には本が{n * 7}冊あります。\n\n" for n in range(400))


def visit(browser: Browser, address: str, **options: object) -> Page:
    """Open the page with the sample notebook chosen."""
    page = browser.new_context(locale="ja-JP", reduced_motion="reduce", **options).new_page()
    page.goto(address)
    page.get_by_role("button", name="ノートブック:").click()
    page.get_by_role("menuitemradio", name="sample").click()
    page.locator("li.source").first.wait_for(state="attached")
    return page


def ask(page: Page, question: str, shows: str) -> None:
    """Ask and wait until the newest turn shows what is wanted."""
    page.locator(".composer textarea").fill(question)
    page.keyboard.press("Enter")
    page.locator(".turn", has_text=question).locator(shows).first.wait_for(timeout=PATIENCE_MS)


def take(page: Page, path: Path) -> None:
    """Write one picture, once everything stands still and nothing is pointed at."""
    page.mouse.move(0, 0)
    page.wait_for_timeout(400)
    page.screenshot(path=path, animations="disabled")
    sys.stdout.write(f"{path}: {path.stat().st_size // 1000} kB\n")


def wide(page: Page, folder: Path) -> None:
    """Take the pictures of a wide, light page; the answers stay for the narrow one."""
    page.locator("button.gauge", has_text="準備できました").wait_for(timeout=2 * PATIENCE_MS)
    ask(page, POTATO, ".answer")
    page.locator(".turn button.mark").first.click()
    page.locator("dialog.viewer mark").first.wait_for()
    take(page, folder / "answer.png")
    page.locator("dialog.viewer").get_by_role("button", name="閉じる").click()
    page.get_by_role("button", name="この答えができるまで").click()
    page.locator(".receipt .step").first.wait_for()
    take(page, folder / "receipt.png")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="メモに残す").first.click()
    page.locator(".note-row").click()
    page.locator(".toast").get_by_role("button", name="閉じる").click()
    take(page, folder / "notes.png")
    ask(page, MOUNTAIN, ".refusal")
    take(page, folder / "refusal.png")
    core(page, folder / "core.png")
    page.evaluate(DROP, [["棚の帳面.md", SHELVES], ["写真.png", PICTURE]])
    page.locator(".arrival-failed").wait_for()
    page.locator(".source-meta", has_text="埋め込み").first.wait_for()
    take(page, folder / "sources.png")
    overfill(page, folder / "core-full.png")


def core(page: Page, path: Path) -> None:
    """Take the picture of what is read in full, and how much of it was used again."""
    page.locator("button.gauge").click()
    page.locator("dialog .core-shares").wait_for()
    take(page, path)
    page.keyboard.press("Escape")


def overfill(page: Page, path: Path) -> None:
    """Pin what does not fit: refused with the numbers."""
    shelves = page.locator("li.source", has_text="棚の帳面")
    shelves.locator(".source-meta", has_text="片").wait_for(timeout=PATIENCE_MS)
    page.locator("button.gauge").click()
    page.locator("dialog .core-shares li", has_text="棚の帳面").get_by_role("button").click()
    page.locator("dialog [role=alert]").wait_for()
    take(page, path)
    page.keyboard.press("Escape")


def narrow(page: Page, folder: Path) -> None:
    """Take the picture of a small, dark page."""
    page.locator(".turn button.mark").first.wait_for()
    page.locator(".turn").first.scroll_into_view_if_needed()
    take(page, folder / "narrow-dark.png")


def main() -> None:
    """Take all pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY / "docs" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    chromium = runpy.run_path(str(REPOSITORY / "scripts" / "find_chromium.py"))["find_chromium"]()
    with tempfile.TemporaryDirectory() as data, serving_process(Path(data), models_folder(), *SAMPLES) as address:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            wide(visit(browser, address, viewport={"width": 1280, "height": 800}), folder)
            small = {"width": 360, "height": 740}
            narrow(visit(browser, address, viewport=small, color_scheme="dark", device_scale_factor=1.5), folder)
            browser.close()


if __name__ == "__main__":
    main()
