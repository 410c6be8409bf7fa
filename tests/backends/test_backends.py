"""What servers really say when they refuse, and what a person is told to do about it."""

import json

import httpx2
import pytest

from fumikura.backends import Server, Words, ask, encoded, parse, refusal
from fumikura.errors import BackendError, BackendRefused, BackendReplyInvalid, BackendUnavailable, InputTooLong

SERVER = Server(
    "Server X",
    "http://127.0.0.1:9",
    start=Words("起動を。", "start it"),
    model=Words("取得を。", "pull it"),
    shorten=Words("短く。", "shorten it"),
    check=Words("設定を。", "check it all"),
)


@pytest.mark.parametrize(
    "text",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
        "the request exceeds the available context size, try increasing it",
        '{"error": {"code": 400, "message": "too big", "type": "exceed_context_size_error"}}',
        '{"error": {"message": "context_length_exceeded"}}',
        "the input length exceeds the context length",
        "input (600 tokens) is too large to process. increase the physical batch size",
        "input is too long",
        "`inputs` must have less than 512 tokens. Given: 600",
        "Requested token count is greater than the context length",
        "prompt too long",
    ],
)
def test_every_way_to_say_too_long_is_understood(text: str) -> None:
    error = refusal(SERVER, 400, text)
    assert isinstance(error, InputTooLong)
    assert "shorten it" in error.en and "短く。" in error.ja


@pytest.mark.parametrize(
    ("status", "text", "kind", "advice"),
    [
        (404, '{"error": "model \'qwen3\' not found, try pulling it first"}', BackendRefused, "pull it"),
        (404, '{"message": "The model `m` does not exist."}', BackendRefused, "pull it"),
        (401, '{"error": {"message": "wrong key"}}', BackendRefused, "API key (401: wrong key)"),
        (403, "forbidden", BackendRefused, "API key (403: forbidden)"),
        (429, "slow down", BackendUnavailable, "429: slow down"),
        (502, "bad gateway", BackendUnavailable, "try again in a moment"),
        (503, '{"error": {"message": "Loading model"}}', BackendUnavailable, "Loading model"),
        (504, "upstream timed out", BackendUnavailable, "504: upstream timed out"),
        (500, '{"detail": "CUDA out of memory"}', BackendRefused, "(500: CUDA out of memory): check it all"),
        (404, "<html>Not\n Found</html>", BackendRefused, "404: <html>Not Found</html>"),
    ],
)
def test_refusals_carry_the_servers_own_text(status: int, text: str, kind: type[BackendError], advice: str) -> None:
    error = refusal(SERVER, status, text)
    assert type(error) is kind
    assert advice in error.en
    assert "\n" not in error.en + error.ja


def test_very_long_error_text_is_cut() -> None:
    assert len(refusal(SERVER, 500, "x" * 10_000).en) < 500


def test_reply_of_another_kind_is_named_with_what_to_check() -> None:
    assert parse(SERVER, "[1]", list) == [1]
    for text in ("<html>", "[1]", "5"):
        with pytest.raises(BackendReplyInvalid, match="check it all"):
            parse(SERVER, text, dict)


def test_error_object_under_status_200_is_a_refusal() -> None:
    with pytest.raises(BackendRefused, match="slot is gone"):
        parse(SERVER, '{"error": "slot is gone"}', list)


def test_nobody_listens() -> None:
    with pytest.raises(BackendUnavailable, match=r"Server X at http://127\.0\.0\.1:9: start it"):
        ask(SERVER, "POST", "/x", {}, httpx2.Timeout(1.0), dict)


def test_lone_surrogates_do_not_stop_a_request() -> None:
    assert json.loads(encoded({"text": "前\ud800後"})) == {"text": "前?後"}
