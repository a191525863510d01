"""The picture of the dashboards in the documentation: `python -m tests.prometheus.picture`.

Grafana draws them for users; here each panel is drawn from what a real Prometheus answers to its
query.
"""

import re
import tempfile
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import floor, log10
from pathlib import Path

from hyperpod_cdk.panels.definition import Panel
from hyperpod_cdk.panels.rules import filled
from hyperpod_cdk.panels.subjects import SUBJECTS
from hyperpod_cli.svg import Svg
from tests.prometheus.metrics import BEGIN, HOURS
from tests.prometheus.server import Prometheus, everything, serving
from tests.support.browser import digest, take
from tests.support.configs import REPOSITORY

PICTURE = REPOSITORY / "docs" / "dashboards.png"

_WIDTH, _MARGIN, _GAP, _COLUMNS = 960, 16, 8, 3
_PANEL_WIDTH = (_WIDTH - 2 * _MARGIN - (_COLUMNS - 1) * _GAP) / _COLUMNS
_PANEL_HEIGHT, _HEAD = 160, 30
# Of the lines within a panel.
_LEFT, _TOP, _RIGHT, _BOTTOM = 46, 26, 8, 36
_COLORS = ("#2166ac", "#d95f02", "#1b9e77", "#7570b3", "#8c6d31", "#666666")
_TICKS = (0, 0.5, 1)
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_LETTER = 5.6
_STYLE = (
    "".join(
        f"  path.color{index} {{ fill: none; stroke: {color}; stroke-width: 1.4 }}\n"
        f"  text.color{index} {{ font-size: 10px; fill: {color} }}\n"
        for index, color in enumerate(_COLORS)
    )
    + """  .panel { fill: none; stroke: #d0d4d9 }
  .name { font-size: 11px; font-weight: 600; fill: #1a1a1a }
  .limit { stroke: #cc0000; stroke-dasharray: 4 3 }
  .tick, .hour { font-size: 9.5px }
  .tick { text-anchor: end }
  .hour { text-anchor: middle }
"""
)

Values = Sequence[tuple[float, float]]


def drawn(prometheus: Prometheus) -> str:
    """Return an SVG of every panel that Prometheus has an answer for.

    Args:
        prometheus: With the metrics of a cluster.
    """
    svg = Svg(width=_WIDTH, style=_STYLE)
    title = f"Six hours of a cluster, from {BEGIN:%H:%M} to {BEGIN.hour + HOURS}:00"
    svg.text(title, _MARGIN, 30, style="heading")
    seen, y = everything(), 44.0
    for subject in SUBJECTS.values():
        panels = [each for each in seen.panels_of(subject) if each.promql]
        if not panels:
            continue
        svg.text(subject.title, _MARGIN, y + 18, style="title")
        y += _HEAD
        for index, panel in enumerate(panels):
            row, column = divmod(index, _COLUMNS)
            x = _MARGIN + column * (_PANEL_WIDTH + _GAP)
            _draw_panel(svg, panel, prometheus, x=x, y=y + row * (_PANEL_HEIGHT + _GAP))
        y += -(-len(panels) // _COLUMNS) * (_PANEL_HEIGHT + _GAP)
    return svg.document(title=title, description="The panels of the dashboards")


def _draw_panel(svg: Svg, panel: Panel, prometheus: Prometheus, *, x: float, y: float) -> None:
    found = sorted(
        (_legend(panel.line_name, labels), values)
        for labels, values in prometheus.series(filled(panel.promql))
    )
    most = max(value for _, values in found for _, value in values)
    limit = None if panel.alarm is None else panel.alarm.threshold
    top = _rounded(max(most, limit or 0) or 1)
    left, right, bottom = x + _LEFT, x + _PANEL_WIDTH - _RIGHT, y + _PANEL_HEIGHT - _BOTTOM

    def across(at: float) -> float:
        return left + (right - left) * (at - BEGIN.timestamp()) / (3600 * HOURS)

    def up(value: float) -> float:
        return bottom - (bottom - y - _TOP) * value / top

    svg.rect(x, y, _PANEL_WIDTH, _PANEL_HEIGHT, style="panel")
    unit = f" ({panel.symbol})" if panel.symbol else ""
    svg.text(panel.title + unit, x + 6, y + 15, style="name")
    for value in (share * top for share in _TICKS):
        svg.path(f"M{left:.1f} {up(value):.1f} H{right:.1f}", style="grid")
        svg.text(_short(value), left - 4, up(value) + 3, style="tick")
    for hour in range(0, HOURS + 1, 2):
        at = across(BEGIN.timestamp() + 3600 * hour)
        svg.text(f"{BEGIN.hour + hour:02}:00", min(at, right - 8), bottom + 13, style="hour")
    if limit is not None:
        svg.path(f"M{left:.1f} {up(limit):.1f} H{right:.1f}", style="limit")
    at = x + 6
    for index, (name, values) in enumerate(found):
        style = f"color{index % len(_COLORS)}"
        for part in _without_gaps(values):
            points = (f"{across(second):.1f} {up(value):.1f}" for second, value in part)
            svg.path(f"M{' L'.join(points)}", style=style)
        if at + _LETTER * len(name) < x + _PANEL_WIDTH:
            svg.text(name, at, y + _PANEL_HEIGHT - 7, style=style)
        at += _LETTER * len(name) + 8


def _legend(text: str, labels: Mapping[str, str]) -> str:
    return re.sub(r"{{(\w+)}}", lambda match: labels[match[1]], text)


def _without_gaps(values: Values) -> list[list[tuple[float, float]]]:
    """Return each stretch of time without a gap."""
    step = min((after - at for (at, _), (after, _) in pairwise(values)), default=0)
    parts: list[list[tuple[float, float]]] = [[]]
    for at, value in values:
        if parts[-1] and at - parts[-1][-1][0] > step:
            parts.append([])
        parts[-1].append((at, value))
    return parts


def _rounded(value: float) -> float:
    """Return the next number that half of is short, too."""
    size = 10.0 ** floor(log10(value))
    return next(step * size for step in (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10) if step * size >= value)


def _short(value: float) -> str:
    for size, prefix in _PREFIXES:
        if value >= size:
            return f"{value / size:.3g}{prefix}"
    return f"{value:.3g}"


def main() -> None:
    """Draw the panels, and take their picture."""
    with tempfile.TemporaryDirectory() as folder:
        with serving(Path(folder)) as prometheus:
            text = drawn(prometheus)
        file = Path(folder) / "dashboards.svg"
        file.write_text(text, "utf-8")
        height = float(text.partition(' height="')[2].partition('"')[0])
        take(PICTURE, page=file, of=digest(text.encode()), height=int(height))


if __name__ == "__main__":
    main()
