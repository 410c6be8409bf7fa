"""Sources panel, viewer, settings and frame in a real chromium: the page as it is shipped, its API scripted."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from page_steps import DROP
from page_stub import NOTEBOOK, PageStub, source
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Page]
WINDOW = 200_000  # characters that the server sends at a time
TEXT = "# 𠮷田町の記録\n\n𩸽を焼く日は三月五日。\n\n## 会計\n\n会費は月に三百円です。\n"
FEE = "会費は月に三百円です。"


def list_sources(stub: PageStub, *sources: dict[str, Any], **progress: Any) -> None:
    """Let the notebook have these sources."""
    stub.replies[f"GET {NOTEBOOK}/sources"] = {"sources": list(sources), "listing": 2}
    given = {"listing": 2, "jobs": [], "embedding": [], "notices": [], **progress}
    stub.replies[f"GET {NOTEBOOK}/progress"] = given
    count = {"id": 1, "name": "sample", "source_count": len(sources), "chunk_count": 4}
    stub.replies["GET /api/notebooks"] = {"notebooks": [count]}


def hold_text(stub: PageStub, text: str, start: int = 0, **changes: Any) -> None:
    """Let source s1 have this text, asked for from `start`."""
    outline = [
        {"heading": match[1], "level": 2, "start": match.start(), "page": None}
        for match in re.finditer(r"^## (.*)$", text, re.MULTILINE)
    ]
    stub.replies[f"GET {NOTEBOOK}/sources/s1"] = {
        **source("s1", "記録.md"), "length": len(text), "outline": outline, "has_original": True, **changes,
    }  # fmt: skip
    end = min(len(text), start + WINDOW)
    part = {"start": start, "end": end, "length": len(text), "text": text[start:end]}
    stub.replies[f"GET {NOTEBOOK}/sources/s1/text?start={start}&end={start + WINDOW}"] = part


def find_quotes_in(stub: PageStub, text: str) -> None:
    """Answer where a quote stands now, as the server does."""

    def found(body: dict[str, Any]) -> dict[str, Any]:
        at = text.find(body["quote"])
        state = "changed" if at < 0 else "same" if at == body["start"] else "moved"
        start = max(at, 0)
        return {"state": state, "start": start, "end": start + len(body["quote"]), "source": source("s1", "記録.md")}

    stub.replies[f"POST {NOTEBOOK}/passage"] = found


def quote_of(text: str, words: str, at: int | None = None) -> dict[str, Any]:
    start = text.index(words) if at is None else at
    return {"start": start, "end": start + len(words), "quote": words}


def open_source(page: Page, *quotes: dict[str, Any], source_id: str = "s1", name: str = "記録.md") -> None:
    wanted = {"source_id": source_id, "source": name, "quotes": list(quotes)}
    page.evaluate("wanted => import('/js/sources/viewer.js').then((viewer) => viewer.openSource(wanted))", wanted)


def rows(page: Page) -> Locator:
    return page.locator("li.source")


def serious(page: Page) -> list[str]:
    """What axe finds on the page as it is now."""
    return [f"{found['id']}: {found['nodes'][0]['html'][:120]}" for found in Axe().run(page).response["violations"]]


# The list


def test_each_source_says_what_it_is_and_how_far_it_is(stub_page: PageStub, open_page: OpenPage) -> None:
    half = {"status": "keyword_ready", "chunk_count": 340, "vector_count": 100}
    blank = {"status": "no_text", "chunk_count": 0, "notices": ["文字が見つかりません。"]}
    dated = {"date": "2026-03-05", "size_bytes": 12_345, "chunk_count": 34}
    list_sources(
        stub_page,
        {**source("s1", "規約.md"), **dated},
        {**source("s2", "日誌.md"), **half},
        {**source("s3", "白紙.pdf"), **blank},
        embedding=[{"source_id": "s2", "vector_count": 120, "chunk_count": 340}],
        notices=["埋め込みが止まっています。"],
    )
    page = open_page()
    expect(rows(page)).to_have_count(3)
    expect(page.locator("li", has_text="規約.md")).to_contain_text("MD · 12 KB · 2026/03/05 · 34片")
    expect(page.locator("li", has_text="日誌.md")).to_contain_text("埋め込み 120 / 340")
    expect(page.locator("li", has_text="白紙.pdf")).to_contain_text("文字が見つかりません")
    stub_page.replies[f"POST {NOTEBOOK}/embed"] = (202, {"jobs": []})
    page.get_by_role("button", name="つづける").click()
    assert serious(page) == []
    assert len(stub_page.asked(f"POST {NOTEBOOK}/embed")) == 1


def test_two_thousand_sources_are_listed_quickly_and_found(stub_page: PageStub, open_page: OpenPage) -> None:
    list_sources(stub_page, *(source(f"s{n}", f"資料 {n:04}.md") for n in range(2000)))
    page = open_page()
    expect(page.locator(".panel-sources h2")).to_contain_text("2,000")
    assert rows(page).count() < 60  # only what is near the view
    took = page.evaluate(
        """async () => {
          const { sources } = await import("/js/sources/progress.js");
          const { list } = sources.get();
          sources.set({ list: [] });
          await new Promise((next) => setTimeout(next, 60));
          const begin = performance.now();
          sources.set({ list: [...list] });
          while (!document.querySelector("li.source")) await new Promise(requestAnimationFrame);
          await new Promise((next) => requestAnimationFrame(() => setTimeout(next)));
          return performance.now() - begin;
        }"""
    )
    assert took < 200  # milliseconds
    page.locator(".source-frame").evaluate("frame => (frame.scrollTop = frame.scrollHeight)")
    expect(rows(page).last).to_have_attribute("aria-posinset", "2000")
    expect(rows(page).last).to_have_attribute("aria-setsize", "2000")
    page.get_by_role("searchbox", name="資料をさがす").fill("１２３４")  # full width finds half width
    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("資料 1234.md")
    page.get_by_role("searchbox", name="資料をさがす").fill("どこにもない")
    expect(page.locator(".panel-sources")).to_contain_text("「どこにもない」に合う資料はありません。")


def test_order_by_name_counts_numbers(stub_page: PageStub, open_page: OpenPage) -> None:
    list_sources(stub_page, *(source(f"s{n}", f"第{n}回.md") for n in (10, 2, 1)))
    page = open_page()
    page.get_by_label("並び順").select_option("name")
    expect(page.locator(".source-name")).to_have_text(["第1回.md", "第2回.md", "第10回.md"])


def test_ticks_choose_what_is_used_and_come_back_when_refused(stub_page: PageStub, open_page: OpenPage) -> None:
    list_sources(stub_page, source("s1", "規約.md"), source("s2", "日誌.md"))
    stub_page.replies[f"PATCH {NOTEBOOK}/sources/s1"] = {**source("s1", "規約.md"), "included": False}
    stub_page.replies[f"PATCH {NOTEBOOK}/sources/s2"] = (
        503,
        {"error": {"code": "store_locked", "message": "別のプロセスが書き込み中です。", "hint": ""}},
    )
    page = open_page()
    page.get_by_role("checkbox", name="「規約.md」を質問に使う").uncheck()
    expect(page.locator(".include-all")).to_contain_text("1 / 2件を使用")
    assert stub_page.asked(f"PATCH {NOTEBOOK}/sources/s1") == [{"included": False}]
    tick = page.get_by_role("checkbox", name="「日誌.md」を質問に使う")
    tick.click()
    expect(page.locator(".toast")).to_contain_text("別のプロセスが書き込み中です。")
    expect(tick).to_be_checked()
    stub_page.replies[f"PATCH {NOTEBOOK}/sources"] = {"listing": 2}
    page.get_by_role("checkbox", name="すべて使う").click()
    expect(page.locator(".include-all")).to_contain_text("2 / 2件を使用")


def test_enter_in_a_kana_conversion_does_not_rename_c117(stub_page: PageStub, open_page: OpenPage) -> None:
    list_sources(stub_page, source("s1", "規約.md"))
    stub_page.replies[f"PATCH {NOTEBOOK}/sources/s1"] = source("s1", "きやく")
    page = open_page()
    page.get_by_role("button", name="「規約.md」の操作").click()
    page.get_by_role("menuitem", name="名前を変える").click()
    field = page.locator(".source-rename")
    expect(field).to_be_focused()
    field.fill("きやく")
    for key in ("{key: 'Enter', isComposing: true, bubbles: true}", "{key: 'Enter', keyCode: 229, bubbles: true}"):
        field.evaluate(f"field => field.dispatchEvent(new KeyboardEvent('keydown', {key}))")
    expect(field).to_be_visible()
    field.press("Enter")
    expect(page.locator(".source-name")).to_have_text("きやく")
    page.get_by_role("button", name="「きやく」の操作").click()
    page.get_by_role("menuitem", name="名前を変える").click()
    field.fill("やめる")
    field.press("Escape")
    expect(page.locator(".source-name")).to_have_text("きやく")
    assert stub_page.asked(f"PATCH {NOTEBOOK}/sources/s1") == [{"name": "きやく"}]


def test_a_deleted_source_comes_back_by_undo(stub_page: PageStub, open_page: OpenPage) -> None:
    list_sources(stub_page, source("s1", "規約.md"), source("s2", "日誌.md"))
    page = open_page()
    gone = {"source_id": "s1", "name": "規約.md", "undo_s": 20, "notices": ["メモ2件が引用しています。"]}
    stub_page.replies[f"DELETE {NOTEBOOK}/sources/s1?undo=true"] = gone
    stub_page.replies[f"POST {NOTEBOOK}/sources/s1/restore"] = source("s1", "規約.md")
    page.get_by_role("button", name="「規約.md」の操作").click()
    page.get_by_role("menuitem", name="削除").click()
    expect(rows(page)).to_have_count(1)
    expect(page.locator(".toast")).to_contain_text("「規約.md」を削除しました。 メモ2件が引用しています。")
    list_sources(stub_page, source("s1", "規約.md"), source("s2", "日誌.md"), listing=3)
    page.get_by_role("button", name="元に戻す").click()
    expect(rows(page)).to_have_count(2)
    assert len(stub_page.asked(f"POST {NOTEBOOK}/sources/s1/restore")) == 1


# Adding


def failed_job(name: str, message: str) -> dict[str, Any]:
    error = {"code": "unsupported_source", "message": message, "hint": "テキストに書き出してください。"}
    counts = {"done_count": 0, "total_count": 0, "source_id": None, "created_at": "", "updated_at": ""}
    return {"job_id": 7, "kind": "add", "name": name, "state": "failed", "step": "read", "error": error, **counts}


def test_a_failed_file_says_why_and_can_be_tried_again_or_dismissed(stub_page: PageStub, open_page: OpenPage) -> None:
    job = failed_job("家計簿.xlsx", "「家計簿.xlsx」の形式は読めません。") | {"step": "split"}
    waiting = {**job, "job_id": 8, "name": "手紙.md", "state": "running", "step": "split", "error": None}
    list_sources(stub_page, jobs=[waiting, job])
    stub_page.replies[f"POST {NOTEBOOK}/jobs/7/retry"] = job
    stub_page.replies[f"DELETE {NOTEBOOK}/jobs/7"] = {}
    page = open_page()
    entries = page.locator(".arrival")
    expect(entries.first).to_contain_text("「家計簿.xlsx」の形式は読めません。 テキストに書き出してください。")
    expect(entries.last).to_contain_text("分割しています")
    page.get_by_role("button", name="もう一度: 家計簿.xlsx").click()
    list_sources(stub_page, jobs=[waiting])
    page.get_by_role("button", name="消す: 家計簿.xlsx").click()
    expect(entries).to_have_count(1)
    assert len(stub_page.asked(f"POST {NOTEBOOK}/jobs/7/retry")) == 1


def test_a_file_that_was_refused_says_so_once_and_offers_no_retry(stub_page: PageStub, open_page: OpenPage) -> None:
    job = failed_job("写真.png", "「写真.png」は読めません。文字に書き出してください。")
    job["error"] |= {"code": "source", "hint": "ファイルを確かめて、もう一度加えてください。"}
    list_sources(stub_page, jobs=[job])
    page = open_page()
    expect(page.locator(".arrival [role=alert]")).to_have_text("「写真.png」は読めません。文字に書き出してください。")
    expect(page.get_by_role("button", name="消す: 写真.png")).to_be_visible()
    expect(page.get_by_role("button", name="もう一度: 写真.png")).to_have_count(0)


def test_files_dropped_before_the_page_is_there_are_sent_once_it_is(stub_page: PageStub, open_page: OpenPage) -> None:
    stub_page.replies[f"POST {NOTEBOOK}/sources"] = (202, {"jobs": []})
    page = open_page()
    held: list[Any] = []
    page.route("**/api/notebooks", lambda route: held.append(route), times=1)
    with page.expect_request("**/api/notebooks"):
        page.reload()
    page.locator(".composer textarea").wait_for()
    page.evaluate(DROP, [["早い.md", "本文"]])
    page.wait_for_timeout(300)
    assert not stub_page.asked(f"POST {NOTEBOOK}/sources")
    with page.expect_request(f"**{NOTEBOOK}/sources"):
        held[0].continue_()


def test_a_long_name_is_cut_in_its_folders(stub_page: PageStub, open_page: OpenPage) -> None:
    name = "とても長い名前のフォルダー/その中のもっと長い名前のフォルダー</script>/三月の議事録.md"
    list_sources(stub_page, source("s1", name))
    page = open_page(width=1280)
    button = page.get_by_role("button", name=name, exact=True)
    expect(button).to_have_text(name)
    folder, file = button.locator(".name-folder"), button.locator(".name-file")
    assert folder.evaluate("one => one.scrollWidth > one.clientWidth")
    assert file.evaluate("one => one.scrollWidth <= one.clientWidth")
    expect(file).to_have_text("三月の議事録.md")


def test_dropped_files_are_sent_two_at_a_time(stub_page: PageStub, open_page: OpenPage) -> None:
    list_sources(stub_page)
    page = open_page()
    expect(page.locator(".panel-sources")).to_contain_text("まだ資料がありません")
    held: list[Any] = []
    page.route(
        f"**{NOTEBOOK}/sources",
        lambda route: held.append(route) if route.request.method == "POST" else route.fallback(),
    )
    drop = """name => {
      const transfer = new DataTransfer();
      for (const n of [1, 2, 3]) transfer.items.add(new File(["本文"], `${n}.md`));
      document.body.dispatchEvent(new DragEvent(name, { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }"""
    page.evaluate(drop, "dragover")
    expect(page.locator(".drop-veil")).to_contain_text("ここで離すと資料に加えます")
    page.evaluate(drop, "drop")
    expect(page.locator(".drop-veil")).to_have_count(0)
    expect(page.locator(".arrival")).to_have_count(3)
    expect(page.locator(".arrival", has_text="送信を待っています")).to_have_count(1)
    assert len(held) == 2
    refusal = {"error": {"code": "body_too_large", "message": "「1.md」は大きすぎます。", "hint": ""}}
    held[0].fulfill(status=413, json=refusal)
    held[1].fulfill(status=202, json={"jobs": []})
    expect(page.locator(".arrival-failed")).to_contain_text("「1.md」は大きすぎます。")
    expect(page.locator(".arrival")).to_have_count(2)
    page.wait_for_timeout(50)
    assert len(held) == 3
    held[2].fulfill(status=202, json={"jobs": []})
    expect(page.locator(".arrival")).to_have_count(1)


def test_pasted_text_and_addresses_become_sources(stub_page: PageStub, open_page: OpenPage) -> None:
    list_sources(stub_page)
    stub_page.replies[f"POST {NOTEBOOK}/sources/text"] = (202, {"jobs": []})
    inside = {"error": {"code": "source", "message": "「http://10.0.0.1/」は内側のアドレスです。", "hint": ""}}
    stub_page.replies[f"POST {NOTEBOOK}/sources/url"] = (422, inside)
    page = open_page()
    page.get_by_role("button", name="資料を加える").click()
    page.get_by_role("menuitem", name="文章を貼り付ける").click()
    page.get_by_label("文章", exact=True).fill("会費は三百円。")
    page.get_by_role("button", name="加える", exact=True).click()
    expect(page.locator("dialog")).to_have_count(0)
    assert stub_page.asked(f"POST {NOTEBOOK}/sources/text") == [{"text": "会費は三百円。"}]
    page.get_by_role("button", name="資料を加える").click()
    page.get_by_role("menuitem", name="ウェブページのアドレス").click()
    page.get_by_label("アドレス（https://…）").fill("http://10.0.0.1/")
    page.keyboard.press("Enter")
    expect(page.locator("dialog [role=alert]")).to_have_text("「http://10.0.0.1/」は内側のアドレスです。")
    assert serious(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="資料を加える")).to_be_focused()


# The viewer


def test_quotes_are_marked_exactly_where_characters_take_two_units(stub_page: PageStub, open_page: OpenPage) -> None:
    hold_text(stub_page, TEXT)
    find_quotes_in(stub_page, TEXT)
    page = open_page()
    open_source(page, quote_of(TEXT, FEE), quote_of(TEXT, "𩸽を焼く日"))
    expect(page.locator("mark")).to_have_text(["𩸽を焼く日", FEE])
    expect(page.locator(".viewer-plain")).to_have_text(TEXT.strip())
    expect(page.locator(".viewer [role=status]")).to_have_count(0)
    assert serious(page) == []


def test_a_quote_that_moved_or_went_says_so(stub_page: PageStub, open_page: OpenPage) -> None:
    hold_text(stub_page, TEXT)
    find_quotes_in(stub_page, TEXT)
    page = open_page()
    open_source(page, quote_of(TEXT, FEE, at=3), quote_of("会費は無料です。", "会費は無料です。"))
    expect(page.locator("mark")).to_have_text(FEE)
    expect(page.locator(".viewer")).to_contain_text("引用はいまの文面のこの場所にあります")
    expect(page.locator(".viewer")).to_contain_text("この引用はいまの文面にありません")
    expect(page.locator(".viewer-quote")).to_have_text("会費は無料です。")


def test_a_citation_of_a_removed_source_says_so_c086(stub_page: PageStub, open_page: OpenPage) -> None:
    page = open_page()
    open_source(page, quote_of(FEE, FEE), source_id="gone", name="昔の記録.md")
    expect(page.locator(".viewer [role=alert]")).to_have_text("「昔の記録.md」は削除されています。")
    expect(page.locator(".viewer-quote")).to_have_text(FEE)


def test_the_focus_goes_in_and_comes_back(stub_page: PageStub, open_page: OpenPage) -> None:
    list_sources(stub_page, source("s1", "記録.md"))
    hold_text(stub_page, TEXT)
    page = open_page()
    page.locator(".source-name").click()
    expect(page.locator(".viewer-text")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".viewer")).to_have_count(0)
    expect(page.locator(".source-name")).to_be_focused()


def test_long_texts_come_in_parts_and_open_at_the_quote(stub_page: PageStub, open_page: OpenPage) -> None:
    text = "長い文章。\n" * 75_000 + FEE + "\n## 終わりに\n" + "あとがき。\n" * 5_000
    quote = quote_of(text, FEE)
    around_quote = quote["start"] - WINDOW // 2
    for start in (around_quote, around_quote - WINDOW, text.index("## 終わりに") - WINDOW // 2):
        hold_text(stub_page, text, start)
    find_quotes_in(stub_page, text)
    page = open_page()
    open_source(page, quote)
    expect(page.locator("mark")).to_be_in_viewport()
    expect(page.locator(".viewer-turn")).to_have_count(1)
    page.get_by_role("button", name="前の部分").click()
    expect(page.locator("mark")).to_have_count(0)
    page.get_by_role("button", name="目次").click()
    page.get_by_role("button", name="終わりに").click()
    expect(page.locator("mark")).to_have_count(1)
    expect(page.locator("[data-start].viewer-section")).to_be_in_viewport()


@pytest.mark.parametrize("view", ["そのまま", "整形"])
@pytest.mark.parametrize("file", ["C062/xss.md", "C113/exfil.md"])
def test_nothing_in_a_source_runs_or_leaves_c062_c113(
    stub_page: PageStub, open_page: OpenPage, cases: Path, file: str, view: str
) -> None:
    hold_text(stub_page, (cases / file).read_text(encoding="utf-8"))
    page = open_page()  # fails at the end when a request left for elsewhere
    open_source(page)
    page.get_by_role("button", name=view, exact=True).click()
    expect(page.locator(".viewer-text")).to_contain_text("会場は講堂です。" if "xss" in file else "連絡係は三浦さん。")
    page.wait_for_timeout(200)
    assert "XSS" not in page.title()
    assert page.locator(".viewer-text :is(img, iframe, svg, script)").count() == 0
    for link in page.locator(".viewer-text a").all():
        assert re.match("https?://", link.get_attribute("href") or "")
        assert "noopener" in (link.get_attribute("rel") or "")


def test_names_are_shown_as_text_c062(stub_page: PageStub, open_page: OpenPage, cases: Path) -> None:
    names = json.loads((cases / "C062" / "names.json").read_text(encoding="utf-8"))
    list_sources(stub_page, *(source(f"s{n}", name) for n, name in enumerate(names)))
    page = open_page()
    expect(page.locator(".source-name")).to_have_text(names)
    assert page.locator(".panel-sources :is(img, script)").count() == 0


def test_bold_beside_japanese_punctuation_c063(stub_page: PageStub, open_page: OpenPage, cases: Path) -> None:
    hold_text(stub_page, (cases / "C063" / "emphasis.md").read_text(encoding="utf-8"))
    page = open_page()
    open_source(page)
    page.get_by_role("button", name="整形").click()
    expect(page.locator(".viewer-rendered strong")).to_have_text(
        ["「重要なお知らせ」", "期限は五月末。", "注意（必読）："]
    )
    expect(page.locator(".viewer-rendered")).not_to_contain_text("**")


# The settings


def field(key: str, value: Any, kind: str = "integer", **changes: Any) -> dict[str, Any]:
    bounds = {"minimum": 16, "maximum": 8000} if kind == "integer" else {"minimum": None, "maximum": None}
    given = {
        "key": key,
        "value": value,
        "default": 256,
        "kind": kind,
        "choices": [],
        "effect": "reindex",
        "fixed_by": None,
    }
    return {**given, **bounds, **changes}


def show_settings(stub: PageStub, *fields: dict[str, Any], needs_reindex: bool = False) -> dict[str, Any]:
    backend = {"kind": "embedded", "model": "small-model", "context_tokens": 4096, "settings_sha256": ""}
    shown = {"fields": list(fields), "file": "data/settings.json", "backend": backend, "needs_reindex": needs_reindex}
    stub.replies["GET /api/settings"] = shown
    return shown


def test_settings_say_what_they_change_and_what_was_refused(stub_page: PageStub, open_page: OpenPage) -> None:
    fixed = field("search.top_k", 5, fixed_by="FUMIKURA__SEARCH__TOP_K", effect="next_question")
    show_settings(stub_page, field("chunk.size", 300), fixed, field("new.setting", "a", kind="text", default="a"))
    stub_page.replies["PATCH /api/settings"] = (
        422,
        {"error": {"code": "setting_refused", "message": "設定「chunk.size」の値「9」は使えません。", "hint": ""}},
    )
    page = open_page()
    page.get_by_role("link", name="設定").click()
    size = page.get_by_label("一片の長さ（文字）")
    expect(size).to_have_value("300")
    expect(page.locator(".setting").first).to_contain_text("16〜8,000")
    expect(page.get_by_label("集める箇所の数（top_k）")).to_be_disabled()
    expect(page.locator(".settings")).to_contain_text("環境変数 FUMIKURA__SEARCH__TOP_K で決められている")
    expect(page.get_by_label("new.setting")).to_have_value("a")
    expect(page.locator(".settings")).to_contain_text("4,096トークン")
    size.fill("9")
    page.get_by_role("button", name="変更を保存").click()
    expect(page.locator(".setting").first.locator("[role=alert]")).to_have_text(
        "設定「chunk.size」の値「9」は使えません。"
    )
    expect(size).to_be_focused()
    assert serious(page) == []
    stub_page.replies["PATCH /api/settings"] = show_settings(stub_page, field("chunk.size", 256), needs_reindex=True)
    page.get_by_role("button", name="初期値に戻す（256）").click()
    page.get_by_role("button", name="変更を保存").click()
    expect(page.locator(".settings")).to_contain_text("索引がいまの設定と合っていません")
    assert stub_page.asked("PATCH /api/settings") == [{"chunk.size": 9}, {"chunk.size": None}]


def test_an_index_is_rebuilt_from_the_settings(stub_page: PageStub, open_page: OpenPage) -> None:
    show_settings(stub_page, field("chunk.size", 300), needs_reindex=True)
    job = {**failed_job("", ""), "kind": "reindex", "state": "running", "step": "embed", "error": None}
    stub_page.replies["POST /api/reindex"] = (202, {"jobs": []})
    page = open_page()
    page.goto(f"{stub_page.url}#settings")
    list_sources(stub_page, jobs=[{**job, "done_count": 3, "total_count": 12}])
    page.get_by_role("button", name="いま作り直す").click()
    expect(page.locator(".settings-reindex")).to_contain_text("作り直しています 3 / 12")
    show_settings(stub_page, field("chunk.size", 300))
    expect(page.locator(".settings-reindex")).to_have_count(0)


# The frame


def test_a_server_that_is_away_is_said_and_waited_for(stub_page: PageStub, open_page: OpenPage) -> None:
    list_sources(stub_page, source("s1", "規約.md"))
    page = open_page()
    expect(rows(page)).to_have_count(1)
    page.route("**/api/**", lambda route: route.abort())
    page.evaluate("dispatchEvent(new Event('focus'))")
    banner = page.locator(".banner")
    expect(banner).to_have_text("サーバーにつながりません。つながり次第つづけます")
    expect(page.locator(".toast")).to_have_count(0)
    list_sources(stub_page, source("s1", "規約.md"), source("s2", "日誌.md"), listing=5)
    page.unroute("**/api/**")
    expect(banner).to_have_count(0)
    expect(rows(page)).to_have_count(2)


def test_language_and_theme_are_switched_and_remembered(stub_page: PageStub, open_page: OpenPage) -> None:
    page = open_page(locale="en-GB", color_scheme="dark")
    expect(page.locator(".add-button")).to_have_text("Add sources")
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(25, 24, 21)"
    assert serious(page) == []
    page.get_by_role("button", name="日本語に切り替える").click()
    page.get_by_role("button", name="明るい画面にする").click()
    page.reload()
    expect(page.locator(".add-button")).to_have_text("資料を加える")
    assert page.locator("html").get_attribute("lang") == "ja"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(246, 244, 238)"


def test_at_360_pixels_tabs_choose_the_panel_and_nothing_sticks_out(stub_page: PageStub, open_page: OpenPage) -> None:
    long = "とても長い名前の資料_令和八年度_総会_議事録および会計報告_最終版_改訂二.md"
    list_sources(stub_page, source("s1", long), jobs=[failed_job(long, f"「{long}」の形式は読めません。")])
    hold_text(stub_page, TEXT)
    page = open_page(width=360)
    for tab in ("メモ", "質問", "資料"):
        page.get_by_role("navigation", name="画面の切り替え").get_by_role("button", name=tab).click()
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        assert serious(page) == []
    page.locator(".source-name").click()
    expect(page.locator(".viewer")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_notebooks_are_made_and_deleted_only_after_asking(stub_page: PageStub, open_page: OpenPage) -> None:
    stub_page.replies["POST /api/notebooks"] = (201, {"id": 2, "name": "町内会", "source_count": 0, "chunk_count": 0})
    stub_page.replies["DELETE /api/notebooks/2"] = {"notices": []}
    page = open_page()
    page.get_by_role("button", name="ノートブック: sample").click()
    page.get_by_role("menuitem", name="新しいノートブック").click()
    one, two = (
        {"id": n, "name": name, "source_count": 2, "chunk_count": 4} for n, name in ((1, "sample"), (2, "町内会"))
    )
    stub_page.replies["GET /api/notebooks"] = {"notebooks": [one, two]}
    for path in ("progress", "sources", "conversations", "notes"):
        stub_page.replies[f"GET /api/notebooks/2/{path}"] = stub_page.replies[f"GET {NOTEBOOK}/{path}"]
    page.get_by_label("ノートブックの名前").fill("町内会")
    page.keyboard.press("Enter")
    chosen = page.get_by_role("button", name="ノートブック: 町内会")
    expect(chosen).to_be_visible()
    chosen.click()
    page.get_by_role("menuitem", name="ノートブックを削除").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    assert stub_page.asked("DELETE /api/notebooks/2") == []
    stub_page.replies["GET /api/notebooks"] = {"notebooks": [one]}
    chosen.click()
    page.get_by_role("menuitem", name="ノートブックを削除").click()
    page.get_by_role("button", name="削除", exact=True).click()
    expect(page.get_by_role("button", name="ノートブック: sample")).to_be_visible()
    assert len(stub_page.asked("DELETE /api/notebooks/2")) == 1


def test_login_says_what_is_wrong_and_opens_the_page(stub_page: PageStub, open_page: OpenPage) -> None:
    page = open_page()
    page.goto(f"{stub_page.url}login.html")
    stub_page.replies["POST /api/login"] = (
        401,
        {"error": {"code": "token_wanted", "message": "トークンが違います。", "hint": ""}},
    )
    page.get_by_label("合言葉（トークン）").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.locator("[role=alert]")).to_have_text("トークンが違います。")
    assert serious(page) == []
    stub_page.replies["POST /api/login"] = {}
    page.get_by_label("合言葉（トークン）").fill("right")
    page.get_by_role("button", name="はいる").click()
    expect(page.locator(".panel-sources")).to_be_visible()
    assert stub_page.asked("POST /api/login") == [{"token": "wrong"}, {"token": "right"}]


def test_settings_opened_while_the_server_is_away_come_when_it_is_back(
    stub_page: PageStub, open_page: OpenPage
) -> None:
    show_settings(stub_page, field("chunk.size", 300))
    page = open_page()
    page.route("**/*", lambda route: route.abort())
    page.get_by_role("link", name="設定").click()
    expect(page.locator(".banner")).to_be_visible()
    page.unroute("**/*")
    expect(page.get_by_label("一片の長さ（文字）")).to_have_value("300")
