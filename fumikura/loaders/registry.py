"""Which loader reads which file. Knows suffixes; what a file holds is the loader's to find out."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from fumikura.errors import UnreadableSource, UnsupportedSource
from fumikura.protocols import Loader
from fumikura.records import Section, Source, SourceFile


class LoaderRegistry:
    """Chooses the loader by suffix. `fallback` reads files of an unknown or no suffix, if they turn out to be text."""

    def __init__(self, loaders: Sequence[Loader], fallback: Loader | None = None) -> None:
        self._loaders = {suffix: loader for loader in loaders for suffix in loader.suffixes}
        self._fallback = fallback

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Return the suffixes that are read, sorted."""
        return tuple(sorted(self._loaders))

    def loader_for(self, name: str) -> Loader:
        """Return the loader of the file name's suffix. Raises UnsupportedSource, which names what is read."""
        loader = self._loaders.get(PurePosixPath(name).suffix.lower())
        if loader is None:
            raise self._unsupported(name)
        return loader

    def load(self, file: SourceFile) -> Source:
        """Return the source. Raises UnsupportedSource, UnreadableSource."""
        if self._fallback is None or PurePosixPath(file.name).suffix.lower() in self._loaders:
            return self.loader_for(file.name).load(file)
        try:
            return self._fallback.load(file)
        except UnreadableSource as error:
            raise self._unsupported(file.name) from error

    def sections_of(self, name: str, text: str) -> tuple[Section, ...]:
        """Return the sections of a text that was read before, from a file of this name. Raises UnsupportedSource."""
        loader = self._loaders.get(PurePosixPath(name).suffix.lower(), self._fallback)
        if loader is None:
            raise self._unsupported(name)
        return loader.sections_of(text)

    def _unsupported(self, name: str) -> UnsupportedSource:
        known = " ".join(self.suffixes)
        return UnsupportedSource(
            ja=f"「{name}」の形式は読めません。読めるもの: {known} と、そのほかのテキストファイル。",
            en=f"'{name}' is of a kind that is not read. Readable: {known}, and other files of plain text.",
        )
