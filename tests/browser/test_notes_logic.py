"""The notes panel in a real chromium, and both panels' states under axe; the API is scripted."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from page_steps import shot
from page_stub import NOTEBOOK, PageStub, answer, citation, keep_conversation, turn
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Page]
NOTES = f"{NOTEBOOK}/notes"
BACKUP = "控えは毎晩三時に取る。"


def note(note_id: str = "n1", **changes: Any) -> dict[str, Any]:
    return {
        "note_id": note_id,
        "title": "控えの手順",
        "text": "毎晩三時に取る。[1] `[1]`",
        "citations": [citation(1, BACKUP)],
        "question": "控えはいつ？",
        "source_id": None,
        "created_at": "2026-03-05T01:00:00Z",
        "updated_at": "2026-03-05T01:00:00Z",
        **changes,
    }


@pytest.fixture
def with_note(stub_page: PageStub) -> PageStub:
    stub_page.replies[f"GET {NOTES}"] = {"notes": [note()]}
    stub_page.replies[f"PATCH {NOTES}/n1"] = lambda body: note(**body)
    return stub_page


def edit(page: Page) -> None:
    page.get_by_role("button", name="控えの手順").click()
    page.get_by_role("button", name="書き直す").click()


def sign(page: Page) -> Any:
    return expect(page.locator(".save-sign"))


def test_a_note_is_read_with_its_citations_alive(with_note: PageStub, open_page: OpenPage) -> None:
    page = open_page()
    page.get_by_role("button", name="控えの手順").click()
    view = page.locator(".note-view")
    expect(view).to_contain_text("質問：控えはいつ？")
    expect(view.locator("blockquote")).to_have_text(BACKUP)
    expect(view.locator("code")).to_have_text("[1]")
    view.locator("button.mark").hover()
    expect(page.get_by_role("tooltip")).to_contain_text(BACKUP)
    with page.expect_response("**/passage"):
        view.locator("button.mark").click()
    page.locator("dialog.viewer").wait_for()
    assert with_note.asked(f"POST {NOTEBOOK}/passage")[0]["quote"] == BACKUP


def test_a_note_whose_source_is_gone_says_so(stub_page: PageStub, open_page: OpenPage) -> None:
    gone = citation(1, BACKUP, source_id="removed")
    stub_page.replies[f"GET {NOTES}"] = {"notes": [note(citations=[gone])]}
    page = open_page()
    page.get_by_role("button", name="控えの手順").click()
    expect(page.locator(".note-quotes")).to_contain_text("この資料はもうありません。")
    expect(page.locator(".note-quotes blockquote")).to_have_text(BACKUP)


def test_writing_is_saved_by_itself(with_note: PageStub, open_page: OpenPage) -> None:
    page = open_page()
    edit(page)
    page.get_by_label("本文（Markdown）").press_sequentially("追記")
    sign(page).to_contain_text("まだ保存していません")
    assert with_note.asked(f"PATCH {NOTES}/n1") == []
    sign(page).to_contain_text("保存しました")
    wanted = {"title": "控えの手順", "text": note()["text"] + "追記", "updated_at": note()["updated_at"]}
    assert with_note.asked(f"PATCH {NOTES}/n1") == [wanted]
    page.get_by_label("見出し").fill("手順")
    page.get_by_label("見出し").blur()
    sign(page).to_contain_text("保存しました")
    assert with_note.asked(f"PATCH {NOTES}/n1")[-1]["title"] == "手順"
    page.get_by_role("button", name="できあがり").click()
    expect(page.locator(".note-view")).to_contain_text("追記")


def test_a_new_note_is_made_with_its_first_words(stub_page: PageStub, open_page: OpenPage) -> None:
    stub_page.replies[f"POST {NOTES}"] = lambda body: (201, note("n2", **body))
    stub_page.replies[f"PATCH {NOTES}/n2"] = lambda body: note("n2", **body)
    page = open_page()
    page.get_by_role("button", name="新しいメモ").first.click()
    page.get_by_role("button", name="一覧へ").click()
    assert stub_page.asked(f"POST {NOTES}") == [], "an empty note was kept"
    page.get_by_role("button", name="新しいメモ").first.click()
    page.get_by_label("見出し").press_sequentially("買い物")
    page.get_by_label("見出し").press("Enter")
    page.get_by_label("本文（Markdown）").press_sequentially("里芋")
    page.get_by_role("button", name="できあがり").click()
    expect(page.locator(".note-view")).to_contain_text("里芋")
    assert len(stub_page.asked(f"POST {NOTES}")) == 1


def test_a_title_that_the_server_gives_does_not_stay_half_a_line(stub_page: PageStub, open_page: OpenPage) -> None:
    stub_page.replies[f"POST {NOTES}"] = lambda body: (
        201,
        note("n2", **{**body, "title": body["title"] or body["text"]}),
    )
    stub_page.replies[f"PATCH {NOTES}/n2"] = lambda body: note("n2", **body)
    page = open_page()
    page.get_by_role("button", name="新しいメモ").first.click()
    page.get_by_label("本文（Markdown）").press_sequentially("里芋を")
    sign(page).to_contain_text("保存しました")
    page.get_by_label("本文（Markdown）").press_sequentially("買う")
    page.get_by_role("button", name="できあがり").click()
    expect(page.locator(".note-view h3")).to_have_text("里芋を買う")


def test_text_survives_a_server_that_refuses_and_a_reload(with_note: PageStub, open_page: OpenPage) -> None:
    with_note.replies[f"PATCH {NOTES}/n1"] = (
        503,
        {"error": {"code": "store_locked", "message": "別の処理中です。", "hint": ""}},
    )
    page = open_page()
    edit(page)
    page.get_by_label("本文（Markdown）").fill("消えては困る文")
    sign(page).to_contain_text("保存できません")
    sign(page).to_contain_text("別の処理中です。")
    page.get_by_role("button", name="できあがり").click()
    expect(page.get_by_label("本文（Markdown）")).to_have_value("消えては困る文")
    page.reload()
    expect(page.get_by_label("本文（Markdown）")).to_have_value("消えては困る文")
    with_note.replies[f"PATCH {NOTES}/n1"] = lambda body: note(**body)
    page.get_by_label("本文（Markdown）").press_sequentially("。")
    sign(page).to_contain_text("保存しました")
    assert with_note.asked(f"PATCH {NOTES}/n1")[-1]["text"] == "消えては困る文。"
    page.reload()
    expect(page.locator(".note-row")).to_be_visible()


def test_a_note_deleted_elsewhere_while_it_is_written_is_made_anew(with_note: PageStub, open_page: OpenPage) -> None:
    del with_note.replies[f"PATCH {NOTES}/n1"]
    with_note.replies[f"POST {NOTES}"] = lambda body: (201, note("n2", **body))
    page = open_page()
    edit(page)
    page.get_by_label("本文（Markdown）").fill("まだ要る文")
    sign(page).to_contain_text("保存しました")
    (made,) = with_note.asked(f"POST {NOTES}")
    assert (made["text"], made["citations"]) == ("まだ要る文", note()["citations"])


@pytest.mark.parametrize("locale", ["ja-JP", "en-US"])
def test_a_note_saved_elsewhere_meanwhile_is_not_overwritten(
    with_note: PageStub, open_page: OpenPage, locale: str
) -> None:
    """Both texts are kept: the other opens, this one is a note of its own."""
    theirs = note(text="別の画面の文", updated_at="2026-03-05T02:00:00Z")
    refuse_older(with_note, theirs)
    with_note.replies[f"POST {NOTES}"] = lambda body: (201, note("n2", **body))
    page = open_page(locale)
    page.locator(".note-row").click()
    page.locator(".note-actions button").first.click()
    text = page.locator(".note-editor textarea")
    text.fill("この画面の文")
    expect(page.locator(".note-editor [role=alert]")).to_be_visible()
    text.press_sequentially("。")
    text.blur()
    assert len(with_note.asked(f"PATCH {NOTES}/n1")) == 1, "sent again though nobody has chosen"
    keep = {"ja-JP": "両方残して、もう一方を開く", "en-US": "Keep both and open the other"}[locale]
    page.get_by_role("button", name=keep).click()
    expect(page.locator(".note-view")).to_contain_text("別の画面の文")
    (made,) = with_note.asked(f"POST {NOTES}")
    assert made["text"] == "この画面の文。"


def refuse_older(stub: PageStub, now: dict[str, Any]) -> None:
    """Let the server have another text than the one that the page has read."""
    refusal = (409, {"error": {"code": "conflict", "message": "別の画面で保存されています。", "hint": ""}})
    stub.replies[f"GET {NOTES}/n1"] = now
    stub.replies[f"PATCH {NOTES}/n1"] = refusal


def test_delete_can_be_undone(with_note: PageStub, open_page: OpenPage) -> None:
    with_note.replies[f"DELETE {NOTES}/n1"] = note()
    with_note.replies[f"POST {NOTES}"] = lambda body: (201, note("n2", **body))
    page = open_page()
    page.get_by_role("button", name="控えの手順").click()
    with_note.replies[f"GET {NOTES}"] = {"notes": []}
    page.get_by_role("button", name="削除").click()
    expect(page.locator(".note-empty")).to_be_visible()
    with_note.replies[f"GET {NOTES}"] = {"notes": [note("n2")]}
    page.get_by_role("button", name="元に戻す").click()
    expect(page.locator(".note-row")).to_contain_text("控えの手順")
    given = {key: note()[key] for key in ("title", "text", "citations", "question")}
    assert with_note.asked(f"POST {NOTES}") == [given]


def test_search_shows_what_the_server_finds(with_note: PageStub, open_page: OpenPage) -> None:
    with_note.replies[f"GET {NOTES}?q=%E9%87%8C%E8%8A%8B"] = {"notes": []}
    page = open_page()
    page.get_by_role("searchbox", name="メモを探す").fill("里芋")
    expect(page.get_by_text("「里芋」を含むメモはありません。")).to_be_visible()
    page.get_by_role("searchbox", name="メモを探す").fill("")
    expect(page.locator(".note-row")).to_be_visible()


def test_a_note_becomes_a_source(with_note: PageStub, open_page: OpenPage) -> None:
    with_note.replies[f"POST {NOTES}/n1/source"] = (202, {"jobs": []})
    page = open_page()
    expect(page.get_by_role("link", name="すべて書き出す")).to_have_attribute("href", f"{NOTES}/export")
    page.get_by_role("button", name="控えの手順").click()
    page.get_by_role("button", name="資料にする").click()
    expect(page.locator(".toast")).to_contain_text("資料に加えています")
    assert len(with_note.asked(f"POST {NOTES}/n1/source")) == 1


# Every state, for everyone


def serious(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['target']}" for one in found if one["impact"] in ("serious", "critical")]


@pytest.mark.parametrize(("locale", "width", "scheme"), [("ja-JP", 1280, "light"), ("en-US", 360, "dark")])
def test_no_state_is_hard_to_use(
    with_note: PageStub, open_page: OpenPage, locale: str, width: int, scheme: str
) -> None:
    cited = answer(
        "| 名 | 番 |\n|---|--:|\n| kura | 12 |\n\n毎晩です。[1]",
        [citation(1, BACKUP)],
        status="partly",
        unsupported=["安い。"],
    )
    refused = answer("資料にありません。", [], status="not_in_sources")
    error = {"code": "backend_unavailable", "message": "つながりません。", "hint": "起動してください。"}
    keep_conversation(
        with_note,
        turn("t1", "控えはいつ？", answer=cited),
        turn("t2", "富士山は？", answer=refused),
        turn("t3", "表にして", state="failed", error=error),
        turn("t4", "続けて", state="stopped", text="途中"),
        turn("t5", "いま", state="running", text="書きかけ"),
    )
    page = open_page(locale, width, conversation="c1", color_scheme=scheme)
    page.locator(".unsupported summary").click()
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator(".chat-bar button").first.click()
    assert serious(page) == []
    page.keyboard.press("Escape")
    page.locator(".chat-bar button").nth(1).click()
    expect(page.locator(".chat-empty")).to_be_visible()
    assert serious(page) == []
    if width < 900:
        page.locator(".tabs button").last.click()
    assert serious(page) == []
    page.locator(".note-row").click()
    assert serious(page) == []
    page.get_by_role("button", name=re.compile("書き直す|Edit")).click()
    page.locator(".note-editor").wait_for()
    assert serious(page) == []
    refuse_older(with_note, note(text="別の文", updated_at="2026-03-05T02:00:00Z"))
    page.locator(".note-editor textarea").press_sequentially("3")
    page.locator(".note-editor [role=alert]").wait_for()
    shot(page, f"note-conflict-{scheme}")
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
