"""Calls that may fail without ending the thread; no text of a source goes to the log."""

import logging
import traceback
from collections.abc import Callable

from fumikura.errors import StoreError

logger = logging.getLogger(__name__)


def safely(work: Callable[[], bool]) -> bool:
    """Return what `work` returns; False when it fails, so that it is tried again after a rest."""
    try:
        return work()
    except StoreError as error:
        logger.warning("the worker rests: %s", error.en)
    except Exception as error:
        logger.error("the worker rests: %s", kind_and_place(error))
    return False


def kind_and_place(error: Exception) -> str:
    """Return the type of an error and where it was raised, without its message: that may quote a source."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {last.filename}:{last.lineno}"
