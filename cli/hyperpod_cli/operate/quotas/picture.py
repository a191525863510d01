"""Who uses how many nodes over time, as an SVG image: a panel for each configuration."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

from hyperpod_cli.operate.quotas.measures import SimulatedQuotas, Span, spans
from hyperpod_cli.operate.quotas.trace import Trace

_WIDTH, _PANEL, _LEFT, _RIGHT, _TOP = 1040, 230, 64, 14, 92
_GAP = 58  # between panels: room for the times and the next title
_COLUMNS = 960
_MARGIN = 14.0
_TICKS = 4
_LEGEND = 22
_LETTER = 12.5 * 0.56  # width of a letter in a wide font
# Okabe and Ito's, which people who see few colors tell apart: https://jfly.uni-koeln.de/color/
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c7a00", "#5b6770")
# Solid colors on the image's own background are legible on light and dark pages.
_STYLE = """
  text { font-family: system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1b2733 }
  .title { font-size: 13.5px; font-weight: 600 }
  .body { font-size: 12.5px; fill: #46535f }
  .grid { stroke: #d5dee6; stroke-width: 1 }
  .most { stroke: #1b2733; stroke-width: 1.4; stroke-dasharray: 5 4 }
"""


def drawn(panels: Sequence[SimulatedQuotas], trace: Trace) -> str:
    """Return the image, the same for the same panels, which have the same time axis."""
    teams = list(dict.fromkeys(team.name for panel in panels for team in panel.quotas.rules.teams))
    known = [[*spans(panel.jobs, panel.simulation)] for panel in panels]
    ends = [(each[0].start, each[-1].end) for each in known if each]
    start, end = min(first for first, _ in ends), max(last for _, last in ends)
    legend, legend_height = _legend(teams)
    parts = [
        f'<text class="title" x="14" y="26">Nodes in use by team, {escape(trace.path.name)}</text>',
        *legend,
    ]
    y = _TOP + legend_height
    for panel, its_spans in zip(panels, known, strict=True):
        parts += _panel(panel, its_spans, teams, trace, start=start, end=end, y=y)
        y += _PANEL + _GAP
    height = y - _GAP + 34
    about = f"{len(trace.jobs)} jobs; " + "; ".join(panel.title for panel in panels)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
            f'width="{_WIDTH}" height="{height}" role="img" aria-labelledby="title description">',
            '<title id="title">Nodes in use by team</title>',
            f'<desc id="description">{escape(about)}</desc>',
            f"<style>{_STYLE}</style>",
            f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _legend(teams: Sequence[str]) -> tuple[list[str], int]:
    parts: list[str] = []
    x, y = _MARGIN, 40
    for index, name in enumerate([*teams, "lighter: beyond its quota", "dashed: all nodes"]):
        width = 24 + _LETTER * len(name) + 18
        if x + width > _WIDTH and x > _MARGIN:
            x, y = _MARGIN, y + _LEGEND
        if index < len(teams):
            parts.append(f'<rect x="{x:g}" y="{y}" width="14" height="14" fill="{_color(index)}"/>')
        shift = 20 if index < len(teams) else 0
        parts.append(f'<text class="body" x="{x + shift:g}" y="{y + 12}">{escape(name)}</text>')
        x += width
    return parts, y - 40


def _panel(
    panel: SimulatedQuotas,
    its_spans: Sequence[Span],
    teams: Sequence[str],
    trace: Trace,
    *,
    start: int,
    end: int,
    y: int,
) -> list[str]:
    nodes = sum(each.count for each in panel.quotas.divided)
    width, bottom = _WIDTH - _LEFT - _RIGHT, y + _PANEL
    scale = _PANEL / max(1, nodes)
    parts = [f'<text class="title" x="14" y="{y - 10}">{escape(panel.title)}</text>']
    for tick in range(_TICKS + 1):
        level = nodes * tick / _TICKS
        at = bottom - level * scale
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{at:g}" y2="{at:g}"/>'
        )
        parts.append(
            f'<text class="body" x="{_LEFT - 8}" y="{at + 4:g}" text-anchor="end">{level:g}</text>'
        )
    columns = _columns(panel, its_spans, teams, start=start, end=end)
    step = width / _COLUMNS
    base = [0.0] * _COLUMNS
    for index, part in ((index, part) for index in range(len(teams)) for part in (0, 1)):
        amounts = [column[index][part] for column in columns]
        if not any(amounts):
            continue
        upper = [low + amount for low, amount in zip(base, amounts, strict=True)]
        color = _lighter(_color(index)) if part else _color(index)
        outline = _outline(base, upper, step=step, bottom=bottom, scale=scale)
        parts.append(f'<path fill="{color}" d="{outline}"/>')
        base = upper
    parts.append(f'<line class="most" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y}" y2="{y}"/>')
    for tick in range(_TICKS + 1):
        moment = start + (end - start) * tick // _TICKS
        anchor = ("start", "middle", "end")[(tick > 0) + (tick == _TICKS)]
        parts.append(
            f'<text class="body" x="{_LEFT + width * tick / _TICKS:g}" y="{bottom + 18}" '
            f'text-anchor="{anchor}">{escape(trace.moment(moment))}</text>'
        )
    return parts


def _columns(
    panel: SimulatedQuotas, its_spans: Sequence[Span], teams: Sequence[str], *, start: int, end: int
) -> list[list[list[float]]]:
    """Return for each column and team its mean number of nodes, within its quota and beyond."""
    columns = [[[0.0, 0.0] for _ in teams] for _ in range(_COLUMNS)]
    seconds = max(1, end - start) / _COLUMNS
    quotas = {team.name: team.quotas for team in panel.quotas.rules.teams}
    number = {name: index for index, name in enumerate(teams)}
    for span in its_spans:
        since, until = float(span.start - start), float(span.end - start)
        used: dict[int, list[float]] = {}
        for (name, kind), amount in span.used.items():
            if not amount:
                continue
            own = min(amount, quotas[name][kind].nominal)
            per_node = panel.quotas.nodes[kind[0]].per_node
            parts = used.setdefault(number[name], [0.0, 0.0])
            parts[0] += own / per_node
            parts[1] += (amount - own) / per_node
        for column in range(int(since / seconds), min(_COLUMNS - 1, int(until / seconds)) + 1):
            stretch = min(until, (column + 1) * seconds) - max(since, column * seconds)
            part = stretch / seconds
            for index, (within, beyond) in used.items():
                columns[column][index][0] += within * part
                columns[column][index][1] += beyond * part
    return columns


def _outline(
    lower: Sequence[float], upper: Sequence[float], *, step: float, bottom: int, scale: float
) -> str:
    """Return the path of an area: its steps from the left above, and back below."""
    points: list[str] = []
    for amounts, columns in ((upper, range(_COLUMNS)), (lower, reversed(range(_COLUMNS)))):
        for column in columns:
            edges = (column, column + 1) if amounts is upper else (column + 1, column)
            height = f"{bottom - amounts[column] * scale:.1f}"
            points += [f"{_LEFT + edge * step:.1f} {height}" for edge in edges]
    return f"M{' L'.join(_corners(points))} Z"


def _corners(points: Sequence[str]) -> list[str]:
    """Leave out points on a level line between two others."""
    kept: list[str] = []
    for index, point in enumerate(points):
        inner = 0 < index < len(points) - 1
        height = point.partition(" ")[2]
        if inner and all(
            points[other].partition(" ")[2] == height for other in (index - 1, index + 1)
        ):
            continue
        kept.append(point)
    return kept


def _color(index: int) -> str:
    return _COLORS[index % len(_COLORS)]


def _lighter(color: str) -> str:
    """Return a color halfway to white."""
    parts = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{(part + 255) // 2:02x}" for part in parts)
