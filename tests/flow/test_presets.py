"""The presets `ollama` and `vllm` against stand-ins that speak their protocols; Chroma as a folder and as a server."""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fumikura.library import Library
from fumikura.records import Answer

pytest.importorskip("chromadb")
pytest.importorskip("faiss")

QUESTIONS = {
    "里芋600gと鶏もも肉350gの材料は？": ("里芋は600gです。", "answered", "600g"),
    "露草会の今の年会費はいくら？": ("今の年会費は1,500円です。", "answered", "1,500円"),
    "富士山の標高は何メートル？": ("資料には記載がありません。[1]", "not_in_sources", "資料にありません。"),
}


def ask_all(library: Library, stub) -> dict[str, Answer]:  # type: ignore[no-untyped-def]
    library.add_samples("default")
    answers = {}
    for question, (said, _, _) in QUESTIONS.items():
        stub.play({"pieces": re.findall(".{1,3}", said)})
        answers[question] = library.notebook("default").ask(question)
    return answers


def assert_as_expected(library: Library, answers: dict[str, Answer]) -> None:
    for question, (_, status, text) in QUESTIONS.items():
        answer = answers[question]
        assert answer.status == status
        assert text in answer.text
        assert bool(answer.citations) == (status == "answered")
        for citation in answer.citations:
            source = library.store.source_text("default", citation.source_id)
            assert source[citation.start : citation.end] == citation.quote


@pytest.fixture(scope="module")
def chroma_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Chroma server on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = tmp_path_factory.mktemp("chroma-server")
    command = [str(Path(sys.executable).with_name("chroma")), "run", "--path", str(folder), "--port", str(port)]
    with subprocess.Popen(
        [*command, "--host", "127.0.0.1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
        server.terminate()


@pytest.mark.chroma
@pytest.mark.parametrize("where", ["folder", "server"])
def test_preset_ollama(stub, open_library, request: pytest.FixtureRequest, where: str) -> None:  # type: ignore[no-untyped-def]
    stub.options.ctx = 16_384
    settings = {"FUMIKURA__OLLAMA__URL": stub.url, "FUMIKURA__LLM__MODEL": "stub"}
    if where == "server":
        settings["FUMIKURA__INDEX__CHROMA_URL"] = request.getfixturevalue("chroma_url")
    library = open_library(preset="ollama", **settings)
    answers = ask_all(library, stub)
    assert_as_expected(library, answers)
    body = stub.bodies("/api/chat")[-1]
    assert (body["think"], body["options"]["num_ctx"]) == (False, 8192)
    assert body["options"]["temperature"] == 0.2
    assert body["keep_alive"]
    assert stub.bodies("/api/embed")[0]["model"] == "bge-m3"


def test_preset_vllm(stub, open_library) -> None:  # type: ignore[no-untyped-def]
    library = open_library(
        preset="vllm",
        FUMIKURA__OPENAI__URL=f"{stub.url}/v1",
        FUMIKURA__LLM__MODEL="stub",
        FUMIKURA__EMBEDDING__BACKEND="openai",  # ruri-v3 itself needs PyTorch and a model hub
        FUMIKURA__SEARCH__LEXICAL_WEIGHT="3",  # the stand-in's vectors know no meaning
    )
    answers = ask_all(library, stub)
    assert_as_expected(library, answers)
    body = stub.bodies("/v1/chat/completions")[-1]
    assert body["temperature"] == 0
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    sent = [text for body in stub.bodies("/v1/embeddings") for text in body["input"]]
    assert any(text.startswith("検索文書: ") for text in sent)
    assert any(text.startswith("検索クエリ: ") for text in sent)


def test_a_missing_extra_is_named_with_the_command(tmp_path: Path) -> None:
    blocked = "import sys; sys.modules['sentence_transformers'] = None; sys.argv = ['fumikura', *sys.argv[1:]]"
    code = f"{blocked}; from fumikura.cli import main; main()"
    command = [sys.executable, "-c", code, "--data", str(tmp_path), "--preset", "vllm", "add", __file__]
    environment = {**os.environ, "FUMIKURA_LANG": "ja"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert done.returncode == 2
    assert "pip install 'fumikura[sentence-transformers]'" in done.stderr
    assert "Traceback" not in done.stderr
