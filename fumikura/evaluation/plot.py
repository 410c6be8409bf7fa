"""Points and time to the first word of several runs as one SVG, written by hand: no library, no script, any theme."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, log10

from fumikura.evaluation.comparison import Interval
from fumikura.evaluation.summary import Summary
from fumikura.evaluation.wording import label

ROW, HEAD, FOOT = 34, 30, 26  # heights in pixels
NAMES, WIDTH, GAP = 190, 300, 40  # widths of the labels, of one panel, and between the panels
FULL = 2.0  # points
LONGEST_NAME = 24  # characters shown; the whole name is in the tooltip


@dataclass(frozen=True, slots=True)
class Point:
    """One run in the plot."""

    name: str
    points: Interval
    ttft_s: float


def point_of(name: str, summary: Summary) -> Point:
    """Return a run as the plot shows it."""
    return Point(name, summary.points, summary.latency.ttft_s)


def plot(points: Sequence[Point], language: str) -> str:
    """Return an SVG: a row for each run, points with their interval on the left, seconds on the right.

    Colours are those of the page around it (`currentColor`); as a file of its own it is black on nothing.
    """
    height = HEAD + ROW * len(points) + FOOT
    width = NAMES + 2 * WIDTH + GAP + 60
    slowest = _rounded_up(max(point.ttft_s for point in points))
    rows = [_row(point, HEAD + ROW * n, slowest) for n, point in enumerate(points)]
    title = f"{label('plot_points', language)}, {label('plot_ttft', language)}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="13" fill="currentColor" stroke="none">'
        f"<title>{escape(title)}</title>"
        + _axis(NAMES, FULL, label("plot_points", language), height)
        + _axis(NAMES + WIDTH + GAP, slowest, label("plot_ttft", language), height)
        + "".join(rows)
        + "</svg>\n"
    )


def _axis(left: int, end: float, title: str, height: int) -> str:
    ticks = [end * step / 4 for step in range(5)]
    lines = "".join(
        f'<line x1="{left + WIDTH * tick / end:.1f}" x2="{left + WIDTH * tick / end:.1f}" y1="{HEAD - 6}" '
        f'y2="{height - FOOT}" stroke="currentColor" stroke-opacity="0.2"/>'
        f'<text x="{left + WIDTH * tick / end:.1f}" y="{height - 8}" text-anchor="middle">{tick:g}</text>'
        for tick in ticks
    )
    return f'<text x="{left}" y="16" font-weight="bold">{escape(title)}</text>{lines}'


def _row(point: Point, top: int, slowest: float) -> str:
    middle = top + ROW // 2
    low, mean, high = (
        NAMES + WIDTH * value / FULL for value in (point.points.low, point.points.mean, point.points.high)
    )
    left = NAMES + WIDTH + GAP
    length = WIDTH * point.ttft_s / slowest
    short = point.name if len(point.name) <= LONGEST_NAME else point.name[: LONGEST_NAME - 1] + "…"
    return (
        f"<g><title>{escape(point.name)}: {point.points.mean:.2f}, {point.ttft_s:.2f} s</title>"
        f'<text x="{NAMES - 10}" y="{middle + 5}" text-anchor="end">{escape(short)}</text>'
        f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}" stroke="currentColor" stroke-width="2"/>'
        f'<circle cx="{mean:.1f}" cy="{middle}" r="5"/>'
        f'<text x="{mean:.1f}" y="{middle - 8}" text-anchor="middle" font-size="11">{point.points.mean:.2f}</text>'
        f'<rect x="{left}" y="{middle - 6}" width="{length:.1f}" height="12" fill-opacity="0.55"/>'
        f'<text x="{left + length + 5:.1f}" y="{middle + 4}" font-size="11">{point.ttft_s:.2f}</text></g>'
    )


def _rounded_up(value: float) -> float:
    """Return the next of 1, 2, 4, 6, 8 times a power of ten, whose quarters read well."""
    unit = 10.0 ** ceil(log10(value) - 1) if value > 0 else 0.25
    return next(step * unit for step in (1, 2, 4, 6, 8, 10) if value <= step * unit + 1e-12)
