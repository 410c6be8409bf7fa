"""What tests of the page do on it: two sources, questions with their answers, dropping files, asking."""

import os
import time

from playwright.sync_api import Locator, Page, expect

HOURS = "開館は九時、閉館は十七時です。"
FEE = "The yearly fee is 1,500 yen, paid in April."
LIBRARY = f"# 図書室\n\n## 開館時間\n\n{HOURS}\n\n## 貸し出し\n\n本は一度に五冊まで、二週間借りられます。\n"
PICTURE = "\x89PNG\r\n\x1a\n" + "\0\1\2\3" * 40
GARDEN = f"# Garden club\n\n## Fees\n\n{FEE}\n\n## Meetings\n\nWe meet on the first Sunday of the month.\n"
ASK_HOURS = "図書室は何時に開きますか？"
ASK_FEE = "How much is the yearly fee of the garden club?"
ASK_MOUNTAIN = "図書室の屋根の色は何色ですか？"
ANSWERS = {
    ASK_HOURS: "図書室は九時に開きます。[1]",
    ASK_FEE: "The yearly fee is 1,500 yen. [1]",
    ASK_MOUNTAIN: "資料にありません。",
}
DROP = """files => {
  const transfer = new DataTransfer();
  for (const [name, text] of files) transfer.items.add(new File([text], name));
  for (const kind of ["dragover", "drop"]) {
    document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
  }
}"""


def drop(page: Page, *files: tuple[str, str]) -> None:
    """Drop files on the page, by name and text."""
    page.evaluate(DROP, list(files))


def row(page: Page, name: str) -> Locator:
    """Return a source in the list."""
    return page.locator("li.source", has_text=name)


def drop_both(page: Page) -> None:
    """Drop the two files and wait until both can be asked about."""
    drop(page, ("図書室.md", LIBRARY), ("garden.md", GARDEN))
    for name in ("図書室.md", "garden.md"):
        expect(row(page, name)).to_contain_text("MD · ")


def ask(page: Page, question: str) -> Locator:
    """Ask with the keyboard; return the new turn."""
    count = page.locator(".turn").count()
    page.locator(".composer textarea").fill(question)
    page.keyboard.press("Enter")
    turn = page.locator(".turn").nth(count)
    expect(turn).to_contain_text(question)
    return turn


def shot(page: Page, name: str) -> None:
    """Keep a picture of this state where the variable SHOTS names a folder for it."""
    if folder := os.environ.get("SHOTS"):
        page.screenshot(path=f"{folder}/{name}.png", animations="disabled")


def wait_until(page: Page, expression: str, timeout: float = 10.0) -> None:
    """Wait until a JavaScript expression holds: seconds.

    Playwright's wait_for_function looks again by eval inside the page, which the page's own
    Content-Security-Policy forbids: it can only pass at its first look.
    """
    end = time.monotonic() + timeout
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"never held: {expression}"
        page.wait_for_timeout(50)
