"""Who uses how many nodes over time, as an SVG image: a panel for each configuration."""

from collections.abc import Sequence

from hyperpod_cli.operate.quotas.measures import SimulatedQuotas, Span, spans
from hyperpod_cli.operate.quotas.trace import Trace
from hyperpod_cli.svg import Svg

_WIDTH, _PANEL, _LEFT, _RIGHT, _TOP = 1040, 230, 64, 14, 92
_GAP = 58  # between panels: room for the times and the next title
_COLUMNS = 960
_MARGIN = 14.0
_TICKS = 4
_LEGEND = 22
_LETTER = 12.5 * 0.56  # width of a letter in a wide font
# Okabe and Ito's, which people who see few colors tell apart: https://jfly.uni-koeln.de/color/
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c7a00", "#5b6770")
_STYLE = "  .most { stroke: #1b2733; stroke-width: 1.4; stroke-dasharray: 5 4 }\n" + "".join(
    f"  .team{index} {{ fill: {color} }}\n  .beyond{index} {{ fill: {color}; opacity: 0.5 }}\n"
    for index, color in enumerate(_COLORS)
)


def drawn(panels: Sequence[SimulatedQuotas], trace: Trace) -> str:
    """Return the image, the same for the same panels, which have the same time axis."""
    teams = list(dict.fromkeys(team.name for panel in panels for team in panel.quotas.rules.teams))
    known = [[*spans(panel.jobs, panel.simulation)] for panel in panels]
    ends = [(runs[0].start, runs[-1].end) for runs in known if runs]
    start, end = min(first for first, _ in ends), max(last for _, last in ends)
    svg = Svg(width=_WIDTH, style=_STYLE)
    svg.text(f"Nodes in use by team, {trace.path.name}", _MARGIN, 26, style="title")
    y = _TOP + _draw_legend(svg, teams)
    for panel, its_spans in zip(panels, known, strict=True):
        _draw_panel(svg, panel, its_spans, teams, trace, start=start, end=end, y=y)
        y += _PANEL + _GAP
    about = f"{len(trace.jobs)} jobs; " + "; ".join(panel.title for panel in panels)
    return svg.document(title="Nodes in use by team", description=about)


def _draw_legend(svg: Svg, teams: Sequence[str]) -> int:
    """Draw the names of the teams; return how much higher than a line it is."""
    x, y = _MARGIN, 40
    for index, name in enumerate([*teams, "lighter: beyond its quota", "dashed: all nodes"]):
        width = 24 + _LETTER * len(name) + 18
        if x + width > _WIDTH and x > _MARGIN:
            x, y = _MARGIN, y + _LEGEND
        if index < len(teams):
            svg.rect(x, y, 14, 14, style=f"team{index % len(_COLORS)}")
        svg.text(name, x + (20 if index < len(teams) else 0), y + 12)
        x += width
    return y - 40


def _draw_panel(
    svg: Svg,
    panel: SimulatedQuotas,
    its_spans: Sequence[Span],
    teams: Sequence[str],
    trace: Trace,
    *,
    start: int,
    end: int,
    y: int,
) -> None:
    nodes = sum(pool.count for pool in panel.quotas.divided)
    width, bottom = _WIDTH - _LEFT - _RIGHT, y + _PANEL
    scale = _PANEL / max(1, nodes)
    svg.text(panel.title, _MARGIN, y - 10, style="title")
    for tick in range(_TICKS + 1):
        level = nodes * tick / _TICKS
        at = bottom - level * scale
        svg.path(f"M{_LEFT} {at:g} H{_WIDTH - _RIGHT}", style="grid")
        svg.text(f"{level:g}", _LEFT - 8, at + 4, style="end")
    columns = _columns(panel, its_spans, teams, start=start, end=end)
    step = width / _COLUMNS
    base = [0.0] * _COLUMNS
    for index, part in ((index, part) for index in range(len(teams)) for part in (0, 1)):
        amounts = [column[index][part] for column in columns]
        if not any(amounts):
            continue
        upper = [low + amount for low, amount in zip(base, amounts, strict=True)]
        style = f"{'beyond' if part else 'team'}{index % len(_COLORS)}"
        svg.path(_outline(base, upper, step=step, bottom=bottom, scale=scale), style=style)
        base = upper
    svg.path(f"M{_LEFT} {y} H{_WIDTH - _RIGHT}", style="most")
    for tick in range(_TICKS + 1):
        moment = start + (end - start) * tick // _TICKS
        style = ("body", "middle", "end")[(tick > 0) + (tick == _TICKS)]
        svg.text(trace.moment(moment), _LEFT + width * tick / _TICKS, bottom + 18, style=style)


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
            nominal = min(amount, quotas[name][kind].nominal)
            per_node = panel.quotas.nodes[kind[0]].per_node
            parts = used.setdefault(number[name], [0.0, 0.0])
            parts[0] += nominal / per_node
            parts[1] += (amount - nominal) / per_node
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
    above = [*enumerate(upper)]
    below = [(column + 1, amount) for column, amount in reversed([*enumerate(lower)])]
    height = f"{bottom - upper[0] * scale:.1f}"
    path = f"M{_LEFT} {height}"
    for edge, amount in (*above, *below):
        level = f"{bottom - amount * scale:.1f}"
        if level != height:
            path += f" H{_LEFT + edge * step:.1f} V{level}"
            height = level
    return f"{path} H{_LEFT} Z"
