"""What every bench returns and how it is shown: rows of name, value, unit, limit."""

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Figure:
    """One measured figure; `limit` is the wanted bound in words, `met` None where there is none."""

    name: str
    value: float
    unit: str
    limit: str = ""
    met: bool | None = None


def at_most(name: str, value: float, unit: str, bound: float) -> Figure:
    """Return a figure that must not exceed `bound`."""
    return Figure(name, value, unit, f"≤ {bound:g}", value <= bound)


def at_least(name: str, value: float, unit: str, bound: float) -> Figure:
    """Return a figure that must reach `bound`."""
    return Figure(name, value, unit, f"≥ {bound:g}", value >= bound)


def show(title: str, figures: list[Figure]) -> None:
    """Print a table."""
    out: Callable[[str], object] = sys.stdout.write
    out(f"\n## {title}\n\n| figure | value | wanted | |\n|---|---:|---|---|\n")
    for figure in figures:
        verdict = "" if figure.met is None else ("met" if figure.met else "SHORT")
        out(f"| {figure.name} | {figure.value:,.4g} {figure.unit} | {figure.limit} | {verdict} |\n")
    sys.stdout.flush()


def write(path: Path, sections: dict[str, list[Figure]]) -> None:
    """Write the figures as JSON beside those of other benches."""
    path.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    document = known | {title: [asdict(figure) for figure in figures] for title, figures in sections.items()}
    path.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
