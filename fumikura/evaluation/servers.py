"""The same set against several OpenAI-compatible servers, given as URL or URL#model."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from fumikura.backends import Server, Words, ask
from fumikura.build import API_KEY_VARIABLE
from fumikura.errors import BackendReplyInvalid, SettingsError
from fumikura.evaluation.judge import Judge
from fumikura.generators import OpenAIGenerator, Timeouts
from fumikura.settings import Settings

JUDGE_KEY_VARIABLE = "FUMIKURA_JUDGE_API_KEY"  # never the key of another server
_CHECK = Words("URL とサーバーを確かめてください。", "check the URL and the server")


def address(given: str) -> tuple[str, str | None]:
    """Return URL and model of `URL#model`; None: no model was named. Raises SettingsError for no URL."""
    url, _, model = given.partition("#")
    if not url.startswith(("http://", "https://")):
        raise SettingsError(
            f"「{given}」は http://HOST:PORT/v1#モデル名 の形で書いてください。",
            f"'{given}' must have the form http://HOST:PORT/v1#model",
        )
    return url, model or None


def served_model(url: str, api_key: str | None) -> str:
    """Return the first model that the server lists. Raises BackendError."""
    server = Server(url, url.rstrip("/").removesuffix("/v1"), _CHECK, _CHECK, _CHECK, api_key=api_key)
    listed = ask(server, "GET", "/v1/models", None, Timeouts().short, dict).get("data") or []
    names = [entry.get("id") for entry in listed if isinstance(entry, dict)]
    if not names or not isinstance(names[0], str):
        raise BackendReplyInvalid(
            f"{url} はモデルを並べません。URL#モデル名 の形で書いてください。",
            f"{url} lists no model: write it as URL#model",
        )
    return names[0]


def server_changes(settings: Settings, given: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the changes that point the generator, and it alone, at a server. Raises SettingsError, BackendError."""
    url, model = address(given)
    changes = {
        "llm.backend": "openai",
        "openai.url": url,
        "llm.model": model or served_model(url, environment.get(API_KEY_VARIABLE)),
    }
    if settings.embedding.backend == "openai":  # the index stays where it was
        changes["openai.embedding_url"] = settings.openai.embedding_url or settings.openai.url
    return changes


def judge_at(given: str, environment: Mapping[str, str]) -> Judge:
    """Return the judge behind a server, at temperature 0. Raises SettingsError, BackendError."""
    url, named = address(given)
    api_key = environment.get(JUDGE_KEY_VARIABLE)
    model = named or served_model(url, api_key)
    generator = OpenAIGenerator(url, model, api_key=api_key, temperature=0.0)
    return Judge(f"{model} @ {urlsplit(url).netloc}", generator)
