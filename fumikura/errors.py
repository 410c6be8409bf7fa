"""Every error Fumikura raises on purpose.

    FumikuraError
    ├── SettingsError              500  wrong settings or wrong use; the command line exits with 2
    │   └── MissingExtra           500  an optional package is needed; the message names the extra
    ├── QuestionError              422  a blank or far too long question
    ├── NotFound                   404  no such notebook, source or passage
    ├── Conflict                   409
    │   ├── IndexMismatch          409  vectors made with another embedder than the one now set
    │   └── CoreTooLarge           409  more sources are to be resident than the backend's context holds
    ├── SourceError                422
    │   ├── UnsupportedSource      415  no loader for this kind of file
    │   ├── SourceTooLarge         413
    │   └── UnreadableSource       422  the file is there but its text cannot be read
    ├── ModelFileError             503
    │   ├── ModelMissing           503  the model file has not been fetched
    │   ├── ModelCorrupt           503  size or SHA-256 differs from the registry
    │   └── DownloadFailed         503  transient
    ├── EvaluationError            422  a question set that cannot be used
    ├── BackendError               502  the embedding or language model server
    │   ├── BackendUnavailable     503  transient: not running, refused, dropped
    │   ├── BackendTimeout         504  transient
    │   ├── BackendRefused         502  no such model, bad request
    │   │   └── InputTooLong       502  more tokens than the context or the embedder's window holds
    │   └── BackendReplyInvalid    502  a reply that breaks the protocol (short, NaN, not JSON)
    └── StoreError                 500
        ├── StoreLocked            503  transient: another process is writing
        └── StoreDamaged           500

A message says what failed, with which value, and what to do, in Japanese and in English.
"""


class FumikuraError(Exception):
    """Base of all errors; `ja` and `en` are one line each, ready to be shown to a person."""

    code = "error"
    status = 500
    transient = False

    def __init__(self, ja: str, en: str) -> None:
        super().__init__(en)
        self.ja = ja
        self.en = en

    def message(self, language: str) -> str:
        """Return the message in `language` ("ja" or "en")."""
        return self.ja if language == "ja" else self.en


class SettingsError(FumikuraError):
    """Settings that cannot be used, or a command used wrongly."""

    code = "settings"


class MissingExtra(SettingsError):
    """A part was chosen whose optional package is not installed."""

    code = "missing_extra"

    def __init__(self, part: str, extra: str) -> None:
        install = f"pip install 'fumikura[{extra}]'"
        super().__init__(
            f"{part} には追加パッケージ「{extra}」が必要です。{install} を実行してください。",
            f"{part} needs the optional package group '{extra}': run {install}",
        )


class QuestionError(FumikuraError):
    """A question that cannot be asked: blank or too long."""

    code = "question"
    status = 422


class NotFound(FumikuraError):
    """Something named does not exist."""

    code = "not_found"
    status = 404


class Conflict(FumikuraError):
    """The request does not fit the present state."""

    code = "conflict"
    status = 409


class IndexMismatch(Conflict):
    """The stored vectors were made with another recipe than the one now set."""

    code = "index_mismatch"


class CoreTooLarge(Conflict):
    """The resident core would exceed its room."""

    code = "core_too_large"


class SourceError(FumikuraError):
    """A file that cannot become a source."""

    code = "source"
    status = 422


class UnsupportedSource(SourceError):
    """No loader for this kind of file."""

    code = "unsupported_source"
    status = 415


class SourceTooLarge(SourceError):
    """The file is larger than `limits.source_bytes`."""

    code = "source_too_large"
    status = 413


class UnreadableSource(SourceError):
    """The file exists but its text cannot be read."""

    code = "unreadable_source"


class ModelFileError(FumikuraError):
    """A model file is missing, damaged or cannot be fetched."""

    code = "model_file"
    status = 503


class ModelMissing(ModelFileError):
    """The model file has not been fetched."""

    code = "model_missing"


class ModelCorrupt(ModelFileError):
    """The file's size or SHA-256 differs from the registry."""

    code = "model_corrupt"


class DownloadFailed(ModelFileError):
    """The download broke off; what arrived is kept and resumed."""

    code = "download_failed"
    transient = True


class EvaluationError(FumikuraError):
    """A question set or a run that cannot be used."""

    code = "evaluation"
    status = 422


class BackendError(FumikuraError):
    """The embedding or language model server failed."""

    code = "backend"
    status = 502


class BackendUnavailable(BackendError):
    """The server is not running, refused the connection, or dropped it."""

    code = "backend_unavailable"
    status = 503
    transient = True


class BackendTimeout(BackendError):
    """The server did not answer in time."""

    code = "backend_timeout"
    status = 504
    transient = True


class BackendRefused(BackendError):
    """The server answered with an error: no such model, a bad request."""

    code = "backend_refused"


class InputTooLong(BackendRefused):
    """The text holds more tokens than the context or the embedder's window."""

    code = "input_too_long"


class BackendReplyInvalid(BackendError):
    """The reply breaks the protocol: too few vectors, NaN, not JSON."""

    code = "backend_reply_invalid"


class StoreError(FumikuraError):
    """The database failed."""

    code = "store"


class StoreLocked(StoreError):
    """Another process is writing to the database."""

    code = "store_locked"
    status = 503
    transient = True


class StoreDamaged(StoreError):
    """The database file is damaged."""

    code = "store_damaged"
