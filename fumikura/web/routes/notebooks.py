"""Notebooks: listed, made, renamed, deleted with all that they hold."""

from fastapi import APIRouter

from fumikura.errors import Conflict, NotFound
from fumikura.places import DEFAULT_NOTEBOOK
from fumikura.removal import LOG_NOTICE
from fumikura.store import NotebookRow, Store
from fumikura.web.deps import NotebookName, Services, Speaks
from fumikura.web.schemas_common import ERRORS, NotebookChanges, NotebookInput, NotebookOut, NotebooksOut, NoticesOut

router = APIRouter(prefix="/api/notebooks", tags=["notebooks"], responses=ERRORS)


@router.get("")
def list_notebooks(service: Services) -> NotebooksOut:
    """List all notebooks, by name. `default` is there from the start."""
    store = service.library.store
    if not store.notebooks():
        store.add_notebook(DEFAULT_NOTEBOOK)
    return NotebooksOut(notebooks=[_shown(row) for row in store.notebook_rows()])


@router.post("", status_code=201)
def add_notebook(service: Services, given: NotebookInput) -> NotebookOut:
    """Make an empty notebook. 409 when there is one of this name."""
    store = service.library.store
    if _row(store, given.name):
        raise Conflict(
            f"ノートブック「{given.name}」はすでにあります。別の名前にしてください。",
            f"A notebook '{given.name}' exists already: choose another name",
        )
    store.add_notebook(given.name)
    return _existing(store, given.name)


@router.patch("/{notebook}")
def change_notebook(service: Services, notebook: NotebookName, given: NotebookChanges) -> NotebookOut:
    """Give a notebook another name, choose how its sources are read. 409: the name is taken, or they do not fit."""
    store = service.library.store
    name = given.name or notebook
    if given.mode is not None:  # both are checked before one is changed
        service.library.residence(notebook).check_mode(given.mode)
    if name != notebook:
        store.rename_notebook(notebook, name)
    if given.mode is not None:
        store.set_mode(name, given.mode)
    return _existing(store, name)


@router.delete("/{notebook}")
def remove_notebook(service: Services, notebook: NotebookName, language: Speaks) -> NoticesOut:
    """Delete a notebook with its sources, conversations and notes. There is no way back."""
    library = service.library
    log_emptied = library.store.remove_notebook(notebook)
    notices = [*([] if log_emptied else [LOG_NOTICE]), *library.refresh(notebook)]
    return NoticesOut(notices=[notice.message(language) for notice in notices])


def _row(store: Store, name: str) -> NotebookRow | None:
    return next((row for row in store.notebook_rows() if row.name == name), None)


def _existing(store: Store, name: str) -> NotebookOut:
    row = _row(store, name)
    if row is None:
        raise NotFound(f"ノートブック「{name}」はありません。", f"There is no notebook '{name}'")
    return _shown(row)


def _shown(row: NotebookRow) -> NotebookOut:
    return NotebookOut(
        id=row.notebook_id,
        name=row.name,
        source_count=row.source_count,
        chunk_count=row.chunk_count,
        mode=row.mode,
    )
