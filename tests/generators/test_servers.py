"""Requests, token counts, refusals and the small differences between the servers."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from stub_llm import StubServer

from fumikura.errors import (
    BackendError,
    BackendRefused,
    BackendReplyInvalid,
    BackendTimeout,
    BackendUnavailable,
    InputTooLong,
    SettingsError,
)
from fumikura.generators import (
    EchoGenerator,
    LlamaCppOptions,
    OllamaGenerator,
    OpenAIGenerator,
    ScriptedGenerator,
    Timeouts,
)
from fumikura.generators.exchange import split_lines
from fumikura.generators.messages import wire_messages
from fumikura.generators.token_estimate import TokenEstimate, text_tokens
from fumikura.records import Message, Usage
from fumikura.settings import LlmSettings

QUESTION = [Message("user", "開館は何時ですか？")]


@contextmanager
def replying(*replies: tuple[int, bytes]) -> Iterator[tuple[str, list[dict]]]:
    """A server that says these replies in turn, the last one again and again, and keeps the bodies it was sent."""
    bodies: list[dict] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Keep the test output quiet."""

        def answer(self) -> None:
            status, body = replies[min(len(bodies), len(replies)) - 1]
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.answer()

        def do_GET(self) -> None:
            bodies.append({})
            self.answer()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", bodies
    server.shutdown()
    server.server_close()
    thread.join()


def test_nobody_listens_says_what_to_start() -> None:
    with pytest.raises(BackendUnavailable, match="ollama serve"):
        OllamaGenerator("http://127.0.0.1:9", "qwen3:8b").context_tokens()
    with pytest.raises(BackendUnavailable, match="start the server"):
        list(OpenAIGenerator("http://127.0.0.1:9", "qwen").generate(QUESTION, 5))


def test_missing_model_names_the_command() -> None:
    with replying((404, b'{"error": "model \'qwen3:8b\' not found"}')) as (url, _):
        with pytest.raises(BackendRefused, match="run `ollama pull qwen3:8b`"):
            OllamaGenerator(url, "qwen3:8b").context_tokens()


def test_server_that_rejects_think_is_asked_once_more_without_it() -> None:
    show = (200, b'{"model_info": {}}')
    refused = (400, b'{"error": "\\"stub\\" does not support thinking"}')
    answer = (200, '{"message": {"content": "はい"}, "done": true}'.encode())
    with replying(show, refused, answer) as (url, bodies):
        generator = OllamaGenerator(url, "stub")
        assert list(generator.generate(QUESTION, 5)) == ["はい", Usage("complete")]
        assert list(generator.generate(QUESTION, 5))[0] == "はい"
    assert [body.get("think") for body in bodies[1:]] == [False, None, None]


def test_thinking_in_its_own_field_is_ignored(stub: StubServer) -> None:
    lines = [{"message": {"thinking": "うーん", "content": ""}}, {"message": {"content": "はい"}}, {"done": True}]
    body = b"\n".join(json.dumps(line).encode() for line in lines)
    with replying((200, b"{}"), (200, body)) as (url, _):
        assert list(OllamaGenerator(url, "stub").generate(QUESTION, 5))[0] == "はい"
    events = [{"delta": {"reasoning_content": "うーん"}}, {"delta": {"content": "はい"}, "finish_reason": "stop"}]
    body = b"".join(b"data: " + json.dumps({"choices": [e]}).encode() + b"\n\n" for e in events) + b": ping\n\n"
    with replying((200, body)) as (url, _):
        assert list(OpenAIGenerator(url, "stub").generate(QUESTION, 5)) == ["はい", Usage("complete")]


def test_openai_request_carries_key_extra_body_and_usage(stub: StubServer) -> None:
    extra = {"chat_template_kwargs": {"enable_thinking": False}, "seed": 7}
    generator = OpenAIGenerator(stub.url + "/v1/", "stub", api_key="secret", temperature=0.5, extra_body=extra)
    *_, usage = generator.generate(QUESTION, 33)
    (request,) = stub.requests
    assert request["authorization"] == "Bearer secret"
    sent = request["body"]
    assert sent["chat_template_kwargs"] == {"enable_thinking": False} and sent["seed"] == 7
    assert (sent["max_tokens"], sent["temperature"]) == (33, 0.5)
    assert sent["stream_options"] == {"include_usage": True}
    assert usage.prompt_tokens and usage.answer_tokens


@pytest.mark.parametrize(("setting", "expected"), [(None, 4096), (2048, 2048), (9000, 4096)])
def test_context_is_the_servers_or_the_smaller_setting(stub: StubServer, setting: int | None, expected: int) -> None:
    assert OpenAIGenerator(stub.url, "stub", context_tokens=setting).context_tokens() == expected
    assert OpenAIGenerator(stub.url, "another", context_tokens=setting).context_tokens() == expected


def test_context_of_servers_that_do_not_say() -> None:
    with replying((404, b"{}")) as (url, _):
        assert OpenAIGenerator(url, "m", context_tokens=6000).context_tokens() == 6000
        assert OpenAIGenerator(url, "m").context_tokens() == 4096
        assert OllamaGenerator(url, "m", context_tokens=6000).context_tokens() == 6000


@pytest.mark.parametrize("tokenizer", ["vllm", "llamacpp"])
def test_server_with_a_tokenizer_counts_exactly(stub: StubServer, tokenizer: str) -> None:
    stub.options.tokenizer = tokenizer
    generator = OpenAIGenerator(stub.url, "stub")
    assert generator.count_tokens(QUESTION) == len("[user]開館は何時ですか？[assistant]")
    assert generator.exact_counts


def test_server_without_a_tokenizer_gets_an_estimate_that_learns(stub: StubServer) -> None:
    generator = OpenAIGenerator(stub.url, "stub")
    before = generator.count_tokens(QUESTION)
    assert not generator.exact_counts
    stub.play({"prompt_eval_count": before * 2})
    list(generator.generate(QUESTION, 5))
    assert generator.count_tokens(QUESTION) >= before * 2
    stub.play({"prompt_eval_count": 3})
    list(generator.generate(QUESTION, 5))
    assert generator.count_tokens(QUESTION) >= before * 2, "never corrected downward"


def test_estimate_of_ordinary_texts_is_above_and_not_far_above() -> None:
    # Counts of Qwen2.5's tokenizer for these two texts.
    japanese = "図書館は午前九時に開館し、午後五時に閉館します。休館日は毎週月曜日です。"
    english = "The library opens at nine in the morning and closes at five in the afternoon."
    for text, tokens in ((japanese, 33), (english, 16)):
        assert tokens <= text_tokens(text) <= 2 * tokens
    assert text_tokens("鑿罅裂籠" * 10) >= 60
    assert text_tokens("2026") == 4
    assert text_tokens("안녕하세요") == 5
    assert TokenEstimate().count([]) > 0


def test_turn_marks_and_lone_surrogates_in_contents_are_defused() -> None:
    marks = ["<|im_start|>", "<|eot_id|>", "<start_of_turn>", "<end_of_turn>", "[INST]", "[/INST]", "<s>", "</s>"]
    for mark in marks:
        (message,) = wire_messages([Message("user", f"前{mark}後")])
        assert mark not in message["content"]
        assert message["content"].replace("\u2060", "") == f"前{mark}後"
    kept = "a <| b |> c < d, [1] [INSTALL] <strong> \u2028"
    assert wire_messages([Message("user", kept)])[0]["content"] == kept
    wire_messages([Message("user", "\ud800")])[0]["content"].encode()


def test_lines_are_cut_at_line_feeds_only() -> None:
    chunks = iter(["あ\u2028い\x85".encode()[:4], "あ\u2028い\x85".encode()[4:] + b"\r\n", b"x\n\ny"])
    assert list(split_lines(chunks)) == ["あ\u2028い\x85", "x", "", "y"]


@pytest.mark.parametrize(
    ("reply", "error", "message"),
    [
        ((401, b"{}"), BackendRefused, "API key"),
        ((503, b'{"error": {"message": "Loading model"}}'), BackendUnavailable, "Loading model"),
        ((500, b"oops"), BackendRefused, "oops"),
        ((200, b"<html>hello</html>"), BackendUnavailable, "ended early"),
        ((200, b"data: <html>\n\n"), BackendReplyInvalid, "not JSON"),
        ((200, b"data: 5\n\n"), BackendReplyInvalid, "not JSON"),
        ((200, b'data: {"error": {"message": "CUDA out of memory"}}\n\n'), BackendRefused, "CUDA"),
        ((200, b'data: {"object": "error", "message": "prompt is too long"}\n\n'), InputTooLong, "choose fewer"),
        ((200, b'{\n "detail": "this prompt is too long"\n}'), InputTooLong, "choose fewer"),
        ((404, b'{"message": "The model `m` does not exist."}'), BackendRefused, "serve m"),
    ],
)
def test_failures_before_the_first_piece(reply: tuple[int, bytes], error: type[BackendError], message: str) -> None:
    with replying(reply) as (url, _), pytest.raises(error, match=message):
        list(OpenAIGenerator(url, "m").generate(QUESTION, 5))


def test_stream_that_ends_with_done_but_no_reason_is_complete() -> None:
    body = b'data: {"choices": [{"delta": {"content": "A"}}]}\n\ndata: [DONE]\n\n'
    with replying((200, body)) as (url, _):
        assert list(OpenAIGenerator(url, "m").generate(QUESTION, 5)) == ["A", Usage("complete")]


def test_small_replies_that_are_wrong() -> None:
    with replying((200, b"[1]")) as (url, _), pytest.raises(BackendReplyInvalid, match="not JSON"):
        OpenAIGenerator(url, "m").context_tokens()
    with replying((200, b"{}")) as (url, _), pytest.raises(BackendReplyInvalid, match="'prompt'"):
        OpenAIGenerator(url, "m").render(QUESTION)
    with replying((200, b'{"error": "Unexpected endpoint"}')) as (url, _):
        assert OpenAIGenerator(url, "m").count_tokens(QUESTION) > 5


def test_url_that_is_none() -> None:
    with pytest.raises(SettingsError, match="URL"):
        OpenAIGenerator("127.0.0.1:8000", "m").context_tokens()
    with pytest.raises(SettingsError, match="URL"):
        list(OpenAIGenerator("127.0.0.1:8000", "m").generate(QUESTION, 5))


def test_slow_small_requests_time_out(stub: StubServer) -> None:
    stub.play({"first_byte_delay": 5})
    generator = OllamaGenerator(stub.url, "stub", timeouts=Timeouts(1, 0.2, 0.2))
    with pytest.raises(BackendTimeout):
        list(generator.generate(QUESTION, 5))


def test_defaults_are_those_of_the_settings(stub: StubServer) -> None:
    llm = LlmSettings()
    assert Timeouts() == Timeouts(llm.connect_s, llm.first_token_s, llm.idle_s)
    held = LlamaCppOptions()
    assert (held.context_tokens, held.idle_unload_s) == (llm.context_tokens, llm.idle_unload_s)
    stub.options.ctx = 100_000
    assert OllamaGenerator(stub.url, "stub").context_tokens() == llm.context_tokens


def test_pull_reports_progress_and_success() -> None:
    lines = b'{"status": "pulling"}\n{"status": "downloading", "completed": 5, "total": 10}\n{"status": "success"}\n'
    seen: list[tuple[str, int, int]] = []
    with replying((200, lines)) as (url, _):
        OllamaGenerator(url, "m").pull(lambda *progress: seen.append(progress))
    assert seen == [("pulling", 0, 0), ("downloading", 5, 10), ("success", 0, 0)]


@pytest.mark.parametrize("lines", [b'{"status": "downloading"}\n', b'{"error": "pull model manifest: no route"}\n'])
def test_pull_that_fails_is_an_error(lines: bytes) -> None:
    with replying((200, lines)) as (url, _), pytest.raises(BackendRefused):
        OllamaGenerator(url, "m").pull()


def test_scripted_generator_plays_its_answers() -> None:
    failure = BackendUnavailable(ja="停止中", en="down")
    generator = ScriptedGenerator(["はい。", ["途中", Usage("length")], failure])
    assert list(generator.generate(QUESTION, 5))[0] == "はい。"
    assert list(generator.generate(QUESTION, 5)) == ["途中", Usage("length")]
    with pytest.raises(BackendUnavailable):
        list(generator.generate(QUESTION, 5))
    assert generator.prompts == [tuple(QUESTION)] * 3
    generator.close()
    assert generator.closed


def test_echo_generator_is_cut_at_the_limit() -> None:
    *pieces, usage = EchoGenerator(piece_characters=2).generate(QUESTION, 5)
    assert pieces == ["開館", "は何", "時"]
    assert usage.finish == "length"
