"""What the modules of the command line share: options that read alike, and how the library is opened."""

from typing import TYPE_CHECKING, Annotated

import typer

from fumikura.errors import NotFound
from fumikura.places import DEFAULT_NOTEBOOK

if TYPE_CHECKING:
    from fumikura.library import Library

NotebookOption = Annotated[str, typer.Option("--notebook", help="ノートブック / notebook")]
JsonOption = Annotated[bool, typer.Option("--json", help="JSON で出力 / print one JSON document")]


def open_library(context: typer.Context) -> "Library":
    """Open the library of the options before the command; it is closed with the command. Raises as Library.open."""
    from fumikura.library import Library, find_places

    where = context.obj
    library = Library.open(find_places(where["data"], where["settings"]), where["preset"])
    context.call_on_close(library.close)
    return library


def open_for(context: typer.Context, notebook: str) -> "Library":
    """Open the library for a command that reads this notebook, not taking a misspelt one for an empty one.

    Raises NotFound, SettingsError for what can be no name, and as Library.open.
    """
    from fumikura.notebook import refuse_unusable

    refuse_unusable(notebook)
    library = open_library(context)
    if notebook != DEFAULT_NOTEBOOK and not library.store.has_notebook(notebook):
        there_are = ", ".join(library.store.notebooks()) or DEFAULT_NOTEBOOK
        raise NotFound(
            f"ノートブック「{notebook[:40]}」はありません。あるのは: {there_are}",
            f"there is no notebook '{notebook[:40]}': there are {there_are}",
        )
    return library
