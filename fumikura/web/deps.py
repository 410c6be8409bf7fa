"""What a route asks for by its signature: the service, the notebook of the path, the language of the request."""

import re
import unicodedata
from typing import Annotated

from fastapi import Depends, Path, Request

from fumikura.errors import NotFound
from fumikura.places import DEFAULT_NOTEBOOK
from fumikura.store import Store
from fumikura.web.errors import language_of
from fumikura.web.language import Language
from fumikura.web.service import Service

LARGEST_ID = 2**63 - 1  # of a row in SQLite


def _service(request: Request) -> Service:
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


Services = Annotated[Service, Depends(_service)]
Speaks = Annotated[Language, Depends(language_of)]


def notebook_named(store: Store, text: str, *, ids_first: bool = False) -> str:
    """Return the name of the notebook with this name or id. Raises NotFound; "default" comes to be when needed.

    In a path a number is an id (`ids_first`); elsewhere a notebook that is called 2026 comes before the id 2026.
    """
    name = unicodedata.normalize("NFC", text)
    is_name = name == DEFAULT_NOTEBOOK or store.has_notebook(name)
    if (ids_first or not is_name) and re.fullmatch(r"[0-9]{1,19}", text) and int(text) <= LARGEST_ID:
        try:
            return store.notebook_name(int(text))
        except NotFound:
            pass  # a notebook may be called 2026
    if is_name:
        return name
    raise NotFound(
        ja=f"ノートブック「{text[:40]}」はありません。",
        en=f"There is no notebook '{text[:40]}': see GET /api/notebooks",
    )


def _notebook(
    service: Services, notebook: Annotated[str, Path(description="The notebook's id, or its name", max_length=600)]
) -> str:
    return notebook_named(service.library.store, notebook, ids_first=True)


NotebookName = Annotated[str, Depends(_notebook)]
