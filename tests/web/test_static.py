"""The page's files: complete texts in both languages, unchanged libraries, nothing inline, nothing from elsewhere."""

import hashlib
import os
import re
from pathlib import Path

import pytest

from fumikura.web.routes.pages import JOINED, find_file

STATIC = Path(__file__).parents[2] / "fumikura" / "web" / "static"
VENDOR = STATIC / "vendor"
OWN = sorted(
    path for path in STATIC.rglob("*") if path.suffix in {".js", ".css", ".html"} and VENDOR not in path.parents
)
SCRIPTS = [path for path in OWN if path.suffix == ".js"]
LANGUAGE = re.compile(r"^  (ja|en): \{$(.*?)^  \},$", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r'^    (?:"([^"]+)"|(\w+)):\s*(?:\n\s*)?"((?:[^"\\]|\\.)*)"', re.MULTILINE)
USE = re.compile(r'\bt\(\s*"([^"]+)"')
PATTERN = re.compile(r"\bt\(\s*`([^`]+)`")
PLACE = re.compile(r"\{(\w+)(?::[^}]*)?\}")


def name_of(path: Path) -> str:
    return path.relative_to(STATIC).as_posix()


def texts_of(path: Path) -> dict[str, dict[str, str]]:
    """{"ja": {key: text}, "en": …} of one file of strings."""
    blocks = LANGUAGE.findall(path.read_text(encoding="utf-8"))
    return {language: {quoted or bare: text for quoted, bare, text in ENTRY.findall(body)} for language, body in blocks}


FILES = {path.stem: texts_of(path) for path in sorted((STATIC / "js" / "strings").glob("*.js"))}
KEYS = {key for languages in FILES.values() for key in languages["ja"]}


@pytest.mark.parametrize("name", FILES)
def test_both_languages_have_the_same_texts(name):
    ja, en = FILES[name]["ja"], FILES[name]["en"]
    assert len(ja) >= 10
    assert ja.keys() == en.keys()
    assert all(ja.values()) and all(en.values())
    for key, text in ja.items():
        assert set(PLACE.findall(text)) == set(PLACE.findall(en[key])), key


def test_no_text_is_written_twice():
    all_keys = [key for languages in FILES.values() for key in languages["ja"]]
    assert sorted(all_keys) == sorted(set(all_keys))


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_every_text_that_is_used_exists(path):
    source = path.read_text(encoding="utf-8")
    assert {key for key in USE.findall(source) if key not in KEYS} == set()
    for pattern in PATTERN.findall(source):
        shape = re.compile(
            "".join(".+" if part.startswith("${") else re.escape(part) for part in re.split(r"(\$\{[^}]*\})", pattern))
        )
        assert any(shape.fullmatch(key) for key in KEYS), pattern


def test_english_texts_hold_no_japanese_and_japanese_ones_do():
    kana = re.compile(r"[ぁ-んァ-ヶ一-龠]")
    ja = {key: text for languages in FILES.values() for key, text in languages["ja"].items()}
    en = {key: text for languages in FILES.values() for key, text in languages["en"].items()}
    own_script = {"language.switch", "title", "home"}  # they name the other language, or the product
    foreign = {key for key, text in en.items() if kana.search(text)}
    assert {key for key in foreign if not key.startswith("chat.sample")} <= own_script  # the sample speaks Japanese
    bare = {key for key, text in ja.items() if not kana.search(PLACE.sub("", text))}
    assert {key for key in bare if re.search(r"[A-Za-z]{4,}", PLACE.sub("", ja[key]))} <= own_script


def test_libraries_are_those_whose_checksums_are_written_down():
    written = dict(
        reversed(line.split("  ", 1))
        for line in (VENDOR / "README.md").read_text().splitlines()
        if re.match(r"[0-9a-f]{64}  ", line)
    )
    found = {
        path.relative_to(VENDOR).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in VENDOR.rglob("*.js")
    }
    assert found == written
    assert all((VENDOR / name).parent.joinpath("LICENSE").is_file() for name in found)


def test_libraries_are_imported_at_two_doors():
    doors = [name_of(path) for path in SCRIPTS if "vendor/" in path.read_text(encoding="utf-8")]
    assert doors == ["js/markdown.js", "js/vendor.js"]


@pytest.mark.parametrize("path", [path for path in OWN if path.suffix == ".html"], ids=name_of)
def test_pages_hold_nothing_that_the_policy_forbids(path):
    page = path.read_text(encoding="utf-8")
    assert not re.search(r"<style|\sstyle\s*=|\son\w+\s*=|javascript:", page)
    assert all(body.strip() == "" for body in re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL))
    for target in re.findall(r'(?:href|src)="([^"]+)"', page):
        assert find_file(target.removeprefix("/")), target


@pytest.mark.parametrize("path", OWN, ids=name_of)
def test_nothing_is_loaded_from_elsewhere(path):
    source = re.sub(r"http://www\.w3\.org/\S+", "", path.read_text(encoding="utf-8"))
    assert not re.search(r"""["'(`](?:https?:)?//[\w.]""", source)
    assert "@import" not in source and "eval(" not in source and "new Function" not in source


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_imports_exist(path):
    for target in re.findall(r"""(?:from|import)[\s(]+"(\.[^"]+)\"""", path.read_text(encoding="utf-8")):
        assert (path.parent / target).is_file(), target


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_scripts_are_short_and_never_write_markup_or_style_texts(path):
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 300
    assert ".innerHTML" not in source and "document.write" not in source
    assert not re.search(r"""\sstyle=(?:"|\$\{["`])""", source)  # the policy forbids style attributes
    if "dangerouslySetInnerHTML" in source:
        assert "markdown.js" in source  # the one place that makes HTML, and cleans it


def test_colours_stand_in_the_tokens_only():
    for path in (STATIC / "css").glob("*.css"):
        text = path.read_text(encoding="utf-8")
        beyond = text if path.name != "base.css" else text.split("*::before", 1)[1]
        stray = re.findall(r"(?<!light-dark\()(?<!, )#[0-9a-f]{3,8}\b", beyond)
        assert stray == [], path.name


def test_style_sheets_are_sent_as_one_and_none_is_left_out():
    sheets = {path.stem: path.read_bytes() for path in (STATIC / "css").glob("*.css")}
    for name, joined in JOINED.items():
        file = find_file(name)
        assert file and file.content == b"".join(sheets[sheet] for sheet in joined)
    assert {sheet for joined in JOINED.values() for sheet in joined} == sheets.keys()


def loaded_with(*names: str) -> dict[str, int]:
    """These files and all that they name, with their bytes as they are sent; `import("…")` fetches later."""
    found: dict[str, int] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        file = find_file(name)
        assert file, name
        found[name] = len(file.packed or file.content)
        source = file.content.decode()
        if name.endswith(".html"):
            waiting += re.findall(r'(?:href|src)="/([^"]+)"', source)
        if name.endswith(".js"):
            named = re.findall(r"""(?:from|import)\s*["'](\.[^"']+)["']""", source)
            waiting += [os.path.normpath(Path(name).parent / target) for target in named]
    return found


def test_the_page_is_in_use_after_few_files_and_small_as_a_whole():
    first = loaded_with("index.html")
    assert {"js/vendor.js", "vendor/preact/preact.js", "css/page.css"} < first.keys()
    assert len(first) <= 24  # each costs a browser about 5 ms
    assert sum(first.values()) < 50_000
    whole = loaded_with("index.html", "js/panels.js", "js/markdown.js")
    assert "vendor/markdown-it/markdown-it.js" in whole.keys() - first.keys()
    assert sum(whole.values()) < 150_000
