"""The picture of the dashboards in the documentation: `python -m tests.prometheus.picture`.

Grafana draws them for users; here each panel is drawn from what a real Prometheus answers to its
query, on a page that Chromium shows.
"""

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from math import floor, log10
from pathlib import Path

from hyperpod_cdk.panels.definition import Panel, Unit
from hyperpod_cdk.panels.rules import filled
from hyperpod_cdk.panels.subjects import SUBJECTS
from tests.prometheus.metrics import BEGIN, HOURS
from tests.prometheus.server import Prometheus, everything, serving
from tests.support.browser import digest, take
from tests.support.configs import REPOSITORY

PICTURE = REPOSITORY / "docs" / "dashboards.png"

_WIDTH, _HEIGHT, _PAGE_HEIGHT = 296, 118, 1845
_LEFT, _TOP, _BOTTOM = 44, 8, 18
_COLORS = ("#2166ac", "#d95f02", "#1b9e77", "#7570b3", "#8c6d31", "#666666")
_TICKS = (0, 0.5, 1)
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_STYLE = """
body { margin: 0; padding: 14px 16px; width: 928px; background: #fff; color: #1a1a1a;
  font: 12px/1.35 sans-serif; }
h1 { font-size: 16px; margin: 0 0 8px; } h2 { font-size: 13px; margin: 10px 0 4px; }
.row { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 8px; }
figure { margin: 0; border: 1px solid #d0d4d9; border-radius: 3px; padding: 4px 4px 2px; }
figcaption { font-weight: 600; font-size: 11px; } figcaption span { font-weight: 400; }
text { font: 9px sans-serif; fill: #444; } .grid { stroke: #e3e6ea; }
.limit { stroke: #c00; stroke-dasharray: 4 3; } polyline { fill: none; stroke-width: 1.4; }
.legend { font-size: 9.5px; color: #333; height: 12px; overflow: hidden; white-space: nowrap; }
.legend b { font-weight: 400; margin-right: 8px; }
"""

Values = Sequence[tuple[float, float]]


def page(prometheus: Prometheus) -> str:
    """Return a page with every panel that Prometheus has an answer for.

    Args:
        prometheus: With the metrics of a cluster.
    """
    parts = [*_parts(prometheus)]
    return "\n".join(
        [
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>Dashboards</title>',
            f"<style>{_STYLE}</style>",
            f"<h1>Six hours of a cluster, from {BEGIN:%H:%M} to {BEGIN.hour + HOURS}:00</h1>",
            *parts,
            "</html>",
            "",
        ]
    )


def _parts(prometheus: Prometheus) -> Iterator[str]:
    seen = everything()
    for subject in SUBJECTS.values():
        panels = [each for each in seen.panels_of(subject) if each.promql]
        if panels:
            drawn = (_drawn(panel, prometheus) for panel in panels)
            yield f'<h2>{escape(subject.title)}</h2><div class="row">{"".join(drawn)}</div>'


def _drawn(panel: Panel, prometheus: Prometheus) -> str:
    found = sorted(
        (_legend(panel.line_name, labels), values)
        for labels, values in prometheus.series(filled(panel.promql))
    )
    most = max(value for _, values in found for _, value in values)
    limit = None if panel.alarm is None else panel.alarm.threshold
    top = _rounded(max(most, limit or 0) or 1)
    unit = "" if panel.unit is Unit.COUNT else f" <span>{escape(panel.unit.symbol)}</span>"
    colors = [_COLORS[index % len(_COLORS)] for index, _ in enumerate(found)]
    legend = "".join(
        f'<b style="color:{color}">{escape(name)}</b>'
        for color, (name, _) in zip(colors, found, strict=True)
    )
    lines = "".join(
        f'<polyline stroke="{color}" points="{part}"/>'
        for color, (_, values) in zip(colors, found, strict=True)
        for part in _polylines(values, top=top)
    )
    drawn_limit = "" if limit is None else _level(limit, top=top, kind="limit")
    return (
        f"<figure><figcaption>{escape(panel.title)}{unit}</figcaption>"
        f'<svg width="{_WIDTH}" height="{_HEIGHT}">{"".join(_axes(top))}{drawn_limit}{lines}</svg>'
        f'<div class="legend">{legend}</div></figure>'
    )


def _legend(text: str, labels: Mapping[str, str]) -> str:
    return re.sub(r"{{(\w+)}}", lambda match: labels[match[1]], text)


def _axes(top: float) -> Iterator[str]:
    for share in _TICKS:
        value = share * top
        yield _level(value, top=top, kind="grid")
        yield _text(_LEFT - 4, _y(value, top=top) + 3, _short(value), anchor="end")
    for hour in range(0, HOURS + 1, 2):
        anchor = "end" if hour == HOURS else "middle"
        at = _x(BEGIN.timestamp() + 3600 * hour)
        yield _text(at, _HEIGHT - 5, f"{BEGIN.hour + hour:02}:00", anchor=anchor)


def _text(x: float, y: float, said: str, *, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{said}</text>'


def _level(value: float, *, top: float, kind: str) -> str:
    return f'<path class="{kind}" d="M{_LEFT} {_y(value, top=top):.1f}H{_WIDTH}"/>'


def _polylines(values: Values, *, top: float) -> Iterator[str]:
    """Yield the points of each stretch of time without a gap."""
    step = min((after - at for (at, _), (after, _) in pairwise(values)), default=0)
    part: list[str] = []
    before = None
    for at, value in values:
        if before is not None and at - before > step:
            yield " ".join(part)
            part = []
        part.append(f"{_x(at):.1f},{_y(value, top=top):.1f}")
        before = at
    yield " ".join(part)


def _x(at: float) -> float:
    return _LEFT + (_WIDTH - _LEFT) * (at - BEGIN.timestamp()) / (3600 * HOURS)


def _y(value: float, *, top: float) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - _TOP) * value / top


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
    """Draw the page, and take its picture."""
    with tempfile.TemporaryDirectory() as folder:
        with serving(Path(folder)) as prometheus:
            text = page(prometheus)
        file = Path(folder) / "dashboards.html"
        file.write_text(text, "utf-8")
        take(PICTURE, page=file, of=digest(text.encode()), height=_PAGE_HEIGHT)


if __name__ == "__main__":
    main()
