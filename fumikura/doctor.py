"""Checks everything that a question needs and names a remedy for each finding."""

import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fumikura.build import recipe_of
from fumikura.embedders import prefixes_for
from fumikura.errors import FumikuraError
from fumikura.japanese import normalize
from fumikura.library import Library, Places
from fumikura.protocols import Embedder
from fumikura.records import Message, Usage

Severity = Literal["ok", "warn", "fail"]

FREE_BYTES_WANTED = 500_000_000

# Each question must lie nearer to its own passage. multilingual-e5-small: 0.067 or more on these three.
# A wrong prefix hardly shows in so few (0.063), so prefixes are compared with their family's instead.
SELF_TEST = (
    ("図書館の開館時間は？", "図書館は平日の九時に開きます。", "里芋は皮をむいて塩でもみます。"),
    ("里芋の下ごしらえは？", "里芋は皮をむいて塩でもみます。", "図書館は平日の九時に開きます。"),
    ("回線が切れたときは？", "ルーターの電源を入れ直すとつながります。", "花壇の水やりは朝の六時です。"),
)
SELF_TEST_MARGIN = 0.02

# Found by keyword all the same, or only taking room.
HARMLESS = {"pending_vectors", "other_recipes", "keyword_recipe"}

# What mends a problem of the store; all the others: writing the index anew.
REINDEX = ("fumikura reindex で作り直せます。", "fumikura reindex makes it anew")
RESTORE = (
    "fumikura を止め、データベースファイル {path} をバックアップの写しで置き換えてください。",
    "stop fumikura and put a backup copy of the database file in the place of {path}",
)
CONTINUE = (
    "同じファイルをもう一度 fumikura add するか、fumikura reindex を実行してください。",
    "fumikura add the same files again, or run fumikura reindex",
)
REMEDIES = {"damaged": RESTORE, "orphans": RESTORE, "pending_vectors": CONTINUE}

SPELLINGS = (("ｻｰﾊﾞ", "サーバー"), ("髙島", "高島"), ("令和8年", "2026年"), ("９時〜", "9時～"))


@dataclass(frozen=True)
class Finding:
    """One checked thing; `remedy` says what to do unless all is well."""

    check: str
    severity: Severity
    ja: str
    en: str
    remedy_ja: str = ""
    remedy_en: str = ""


def examine(
    places: Places, preset: str | None = None, *, quick: bool = False, environment: Mapping[str, str] = os.environ
) -> list[Finding]:
    """Run all checks; `quick` leaves out starting the generator."""
    try:
        library = Library.open(places, preset, environment)
    except (FumikuraError, OSError) as error:
        return [*_disk(places.data), _failed("settings and store / 設定と保存", error)]
    try:
        findings = [
            _settings(places, library),
            *_disk(places.data),
            *_guarded("store", _store(library)),
            *_guarded("index", _index(library)),
            *_guarded("embedder", _embedder(library)),
            *_guarded("model", _model(library)),
        ]
        if not quick and not any(finding.severity == "fail" for finding in findings):
            findings += _guarded("generator", _generator(library))
        return findings
    finally:
        library.close()


def _settings(places: Places, library: Library) -> Finding:
    where = str(places.settings_file or "-")
    llm, embedding, index = library.settings.llm, library.settings.embedding, library.settings.index
    parts = f"{where}: {llm.backend} {llm.model}, {embedding.backend} {embedding.model}, {index.kind}"
    return Finding("settings", "ok", parts, parts)


def _disk(data: Path) -> Iterator[Finding]:
    probe = data / f".probe-{uuid.uuid4().hex}"
    try:
        data.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"x")
        probe.unlink()
    except OSError as error:
        yield Finding(
            "disk",
            "fail",
            f"{data} に書き込めません（{error.strerror}）。",
            f"cannot write to {data} ({error.strerror})",
            "権限を直すか、--data で別のフォルダを選んでください。",
            "mend its permissions or choose another folder with --data",
        )
        return
    free = shutil.disk_usage(data).free
    severity: Severity = "ok" if free >= FREE_BYTES_WANTED else "warn"
    text = f"{data}: {free / 1e9:.1f} GB"
    yield Finding(
        "disk", severity, f"{text} 空き", f"{text} free", "ディスクを空けてください。", "free some disk space"
    )


def _store(library: Library) -> Iterator[Finding]:
    mode = library.store.journal_mode
    if mode == "wal":
        yield Finding("journal", "ok", "WAL で動いています。", "WAL is in use")
    else:
        yield Finding(
            "journal",
            "ok" if library.settings.store.journal == "truncate" else "warn",
            "この場所（ネットワークボリュームなど）では WAL が使えないので TRUNCATE です。遅くなりますが安全です。",
            "WAL does not work here (a network volume?), so TRUNCATE is in use: slower, but safe",
            "速さが要るなら、--data で手元のディスクを選んでください。",
            "for speed choose a local disk with --data",
        )
    problems = [problem for problem in library.store.check() if problem.code != "journal"]
    for problem in problems:
        severity: Severity = "warn" if problem.code in HARMLESS else "fail"
        remedy_ja, remedy_en = (text.format(path=library.store.path) for text in REMEDIES.get(problem.code, REINDEX))
        yield Finding("store", severity, problem.ja, problem.en, remedy_ja, remedy_en)
    if not problems:
        count = sum(len(library.store.sources(name)) for name in library.store.notebooks())
        yield Finding("store", "ok", f"資料 {count} 件、矛盾なし。", f"{count} sources, consistent")


def _index(library: Library) -> Iterator[Finding]:
    """Bring the chosen index in step with the store, which also opens its files or its server."""
    notebooks = library.store.notebooks()
    for name in notebooks:
        library.index.refresh(name)
    yield Finding(
        "index",
        "ok",
        f"{library.index.name}: ノートブック {len(notebooks)} 冊と一致。",
        f"{library.index.name}: in step with {len(notebooks)} notebooks",
    )


def _embedder(library: Library) -> Iterator[Finding]:
    margin = self_test(library.embedder)
    text = f"{library.embedder.name}: {margin:.3f}"
    if margin >= SELF_TEST_MARGIN:
        yield Finding("embedder", "ok", f"{text}（自己診断に合格）", f"{text} (self-test passed)")
    else:
        yield Finding(
            "embedder",
            "fail",
            f"{text}: 質問に合う文が上に来ません（必要な差 {SELF_TEST_MARGIN}）。",
            f"{text}: the right passage is not ranked first (margin {SELF_TEST_MARGIN} wanted)",
            "embedding.model と query_prefix / document_prefix を確かめてください。",
            "check embedding.model, query_prefix and document_prefix",
        )
    yield from _prefixes(library.embedder)
    yield from _normaliser()
    used = library.store.vector_recipe()
    if used not in ("", recipe_of(library.embedder)):
        yield Finding(
            "index",
            "warn",
            f"索引は別の埋め込み（{used}）のものです。今はキーワードだけで探します。",
            f"the index is of another embedder ({used}); only keywords are searched now",
            *REINDEX,
        )


def _prefixes(embedder: Embedder) -> Iterator[Finding]:
    """Name a wrong prefix, which loses passages in silence."""
    family = prefixes_for(embedder.name)
    given = (embedder.query_prefix, embedder.document_prefix)
    if given != (family.query, family.document):
        yield Finding(
            "prefixes",
            "fail" if family.query or family.document else "warn",
            f"{embedder.name} の接頭辞が {given} です。正しくは {(family.query, family.document)} です。",
            f"the prefixes of {embedder.name} are {given}, but it was trained with {(family.query, family.document)}",
            "設定 embedding.query_prefix と document_prefix を消し、fumikura reindex を実行してください。",
            "remove embedding.query_prefix and document_prefix, then run fumikura reindex",
        )


def _normaliser() -> Iterator[Finding]:
    """Check that spellings of one word meet in one search term."""
    wrong = [pair for pair in SPELLINGS if normalize(pair[0]).text != normalize(pair[1]).text]
    if wrong:
        text = ", ".join(f"{left} ≠ {right}" for left, right in wrong)
        remedy = ("正しく入れ直してください: pip install --force-reinstall fumikura", "reinstall fumikura")
        yield Finding("normaliser", "fail", text, text, *remedy)


def self_test(embedder: Embedder) -> float:
    """Return the smallest lead (cosine) of the right passage over the wrong one in a tiny Japanese set."""
    margins = []
    for question, right, wrong in SELF_TEST:
        query = embedder.embed_query(question)
        good, bad = embedder.embed_documents([right, wrong]) @ query
        margins.append(float(good - bad))
    return min(margins)


def _model(library: Library) -> Iterator[Finding]:
    if library.settings.llm.backend == "embedded":
        path = library.models.path(library.settings.llm.model)
        yield Finding("model", "ok", f"{path}（検査済み）", f"{path} (verified)")


def _generator(library: Library) -> Iterator[Finding]:
    tokens = library.generator.context_tokens()
    pieces = library.generator.generate([Message("user", "「はい」とだけ答えてください。")], 16)
    text = "".join(piece for piece in pieces if not isinstance(piece, Usage))
    line = f"{library.generator.name}: {tokens:,} tokens"
    if text.strip():
        yield Finding("generator", "ok", line, line)
    else:
        remedy = ("設定 llm を確かめてください。", "check the settings llm")
        yield Finding("generator", "fail", f"{line}: 返事が空です。", f"{line}: empty reply", *remedy)


def _guarded(check: str, findings: Iterator[Finding]) -> Iterator[Finding]:
    """Turn an error into a finding after those already made: its message says what to do."""
    try:
        yield from findings
    except (FumikuraError, OSError) as error:
        yield _failed(check, error)


def _failed(check: str, error: FumikuraError | OSError) -> Finding:
    if isinstance(error, FumikuraError):
        return Finding(check, "fail", error.ja, error.en)
    return Finding(check, "fail", str(error), str(error))
