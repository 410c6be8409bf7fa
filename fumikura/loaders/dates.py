"""Dates as ISO text, from front matter or a file name. Knows nothing of the file's times on disk."""

import re
from collections.abc import Mapping
from datetime import date

from fumikura import japanese

DATE_KEYS = ("date", "created", "day", "日付", "作成日")
_MAX_CHARACTERS = 300
_SEPARATED = r"(?<!\d)(\d{4})(?:[-/._]|年)(\d{1,2})(?:[-/._]|月)(\d{1,2})(?!\d)"
_WRITTEN = re.compile(_SEPARATED)
_IN_NAME = re.compile(rf"{_SEPARATED}|(?<!\d)(\d{{4}})(\d{{2}})(\d{{2}})(?!\d)")


def date_of(metadata: Mapping[str, str], stem: str) -> str | None:
    """Return the ISO date of the text: front matter first, then the file name without its suffix, else None."""
    named = {key.lower(): value for key, value in metadata.items()}
    written = (_iso_date(_WRITTEN, named[key]) for key in DATE_KEYS if key in named)
    return next((day for day in written if day), None) or _iso_date(_IN_NAME, stem)


def _iso_date(pattern: re.Pattern[str], text: str) -> str | None:
    # Normalised, so that full-width digits and era years (令和7年3月2日) are read too.
    for match in pattern.finditer(japanese.normalize(text[:_MAX_CHARACTERS]).text):
        year, month, day = (int(part) for part in match.groups() if part is not None)
        try:
            return date(year, month, day).isoformat()
        except ValueError:
            continue  # 2025-13-40 or a number that is no date: look on
    return None
