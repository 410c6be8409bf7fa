"""Whether a language model server answers and has the model: one short request, nothing is generated."""

import httpx2

from fumikura.backends import Server, Words, ask
from fumikura.errors import BackendRefused

LIMITS = httpx2.Timeout(2.0)
NOTHING = Words("", "")


def reach_ollama(url: str, model: str) -> None:
    """Return when Ollama has the model. Raises BackendError, SettingsError."""
    server = Server(
        "Ollama",
        url.rstrip("/"),
        start=Words(
            "ollama serve で起動し、設定 ollama.url を確かめてください。", "run `ollama serve`, check ollama.url"
        ),
        model=NOTHING,
        shorten=NOTHING,
    )
    listed = ask(server, "GET", "/api/tags", None, LIMITS, dict).get("models") or []
    if not {model, f"{model}:latest"} & {str(entry.get("name")) for entry in listed}:
        raise BackendRefused(
            ja=f"Ollama にモデル {model} がありません。ollama pull {model} を実行してください。",
            en=f"Ollama does not have the model {model}: run `ollama pull {model}`",
        )


def reach_openai(url: str, api_key: str | None) -> None:
    """Return when the OpenAI-compatible server lists its models. Raises BackendError, SettingsError."""
    server = Server(
        "OpenAI-compatible server",
        url.rstrip("/").removesuffix("/v1"),
        start=Words("サーバーを起動し、設定 openai.url を確かめてください。", "start the server, check openai.url"),
        model=NOTHING,
        shorten=NOTHING,
        api_key=api_key,
    )
    ask(server, "GET", "/v1/models", None, LIMITS, dict)
