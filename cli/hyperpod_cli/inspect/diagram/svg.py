"""Drawing the architecture as an SVG image."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from xml.sax.saxutils import escape

from hyperpod_cli.inspect.diagram.architecture import StackPicture, direct, groups, rows
from hyperpod_cli.inspect.diagram.card import Card

_WIDTH = 1040
_MARGIN = 14
_GAP = 34  # between rows: room for an arrow
_LINE = 17
# Width of a letter in a wide font, regular and bold: which font will be used is not known here.
_LETTER = {"body": 12.5 * 0.56, "title": 13.5 * 0.62}

# Solid colors on the image's own background are legible on light and dark pages.
_STYLE = """
  text { font-family: system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1b2733 }
  .title { font-size: 13.5px; font-weight: 600 }
  .body { font-size: 12.5px; fill: #46535f }
  .stack { fill: #eef3f8; stroke: #6b8bab }
  .card { fill: #ffffff; stroke: #9fb1c1 }
  .inner { fill: #f5f8fb; stroke: #c3d0db }
  .nested { fill: #ffffff; stroke: #c3d0db }
  .arrow { fill: none; stroke: #35556f; stroke-width: 1.6; marker-end: url(#head) }
"""
_BOXES = ("card", "inner", "nested")
_HEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" '
    'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 L8 4 L0 8 Z" fill="#35556f"/>'
    "</marker></defs>"
)


@dataclass(frozen=True, slots=True)
class _Box:
    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height


@dataclass(slots=True)
class _Canvas:
    """The elements drawn so far."""

    elements: list[str] = field(default_factory=list)

    def box(self, box: _Box, style: str) -> None:
        self.elements.append(
            f'<rect class="{style}" x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" '
            f'height="{box.height:g}" rx="6"/>'
        )

    def text(self, words: str, *, x: float, y: float, style: str) -> None:
        self.elements.append(f'<text class="{style}" x="{x:g}" y="{y:g}">{escape(words)}</text>')

    def arrow(self, points: Sequence[tuple[float, float]]) -> None:
        path = " L".join(f"{x:g} {y:g}" for x, y in points)
        self.elements.append(f'<path class="arrow" d="M{path}"/>')


def draw(stacks: Sequence[StackPicture], *, title: str) -> str:
    """Return the image, the same for the same stacks; screen readers read its title out."""
    canvas = _Canvas()
    canvas.text(title, x=_MARGIN, y=26, style="title")
    canvas.text(
        "Arrows point to what is created first and deleted last.", x=_MARGIN, y=45, style="body"
    )
    pictures = {stack.name: stack for stack in stacks}
    needs_of = direct({stack.name: tuple(stack.takes) for stack in stacks})
    boxes: dict[str, _Box] = {}
    y = 60.0
    for row in rows(needs_of):
        weights = [_weight(pictures[name]) for name in row]
        widths = _shares(_WIDTH - 2 * _MARGIN, weights)
        taken = [
            _wrapped(_taken(pictures[name]), width - 24)
            for name, width in zip(row, widths, strict=True)
        ]
        y += max(map(len, taken)) * _LINE + (_GAP - 12 if boxes else 0)
        x = float(_MARGIN)
        for name, width, words in zip(row, widths, taken, strict=True):
            boxes[name] = _draw_stack(canvas, pictures[name], x=x, y=y, width=width)
            for index, line in enumerate(words):
                line_y = y - 8 - (len(words) - 1 - index) * _LINE
                canvas.text(line, x=x + 24, y=line_y, style="body")
            x += width + _MARGIN
        y = max(boxes[name].bottom for name in row)
    for name, needed in needs_of.items():
        for other in needed:
            x = boxes[name].x + 12
            canvas.arrow([(x, boxes[name].y), (x, boxes[other].bottom)])
    return _document(canvas, title=title, stacks=stacks, height=y + _MARGIN)


def _document(canvas: _Canvas, *, title: str, stacks: Sequence[StackPicture], height: float) -> str:
    description = " ".join(
        f"Stack {stack.name}: {', '.join(card.title for card in stack.cards.values())}."
        for stack in stacks
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:g}" '
        f'width="{_WIDTH}" height="{height:g}" role="img" aria-labelledby="title description">',
        f'<title id="title">{escape(title)}</title>',
        f'<desc id="description">{escape(description)}</desc>',
        f"<style>{_STYLE}</style>",
        _HEAD,
        f'<rect width="{_WIDTH}" height="{height:g}" rx="8" fill="#ffffff"/>',
        *canvas.elements,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _draw_stack(canvas: _Canvas, stack: StackPicture, *, x: float, y: float, width: float) -> _Box:
    columns = _columns(stack)
    inner = width - 2 * _MARGIN
    header = _wrapped(stack.description, inner)
    top = y + 30 + len(header) * _LINE + 4
    widths = _shares(inner, [_column_weight(stack, column) for column in columns])
    drawing = _Canvas()
    boxes: dict[str, _Box] = {}
    left, bottom = x + _MARGIN, top
    for column, column_width in zip(columns, widths, strict=True):
        bottom = max(
            bottom, _draw_rows(drawing, stack, column, boxes, at=(left, top, column_width))
        )
        left += column_width + _MARGIN
    box = _Box(x, y, width, bottom + _MARGIN - y)
    canvas.box(box, "stack")
    canvas.text(f"Stack {stack.name}", x=x + _MARGIN, y=y + 22, style="title")
    for index, line in enumerate(header):
        canvas.text(line, x=x + _MARGIN, y=y + 40 + index * _LINE, style="body")
    canvas.elements += drawing.elements
    for name, needed in stack.needs.items():
        for other in needed:
            canvas.arrow(_path(boxes[name], boxes[other]))
    return box


def _draw_rows(
    canvas: _Canvas,
    stack: StackPicture,
    column: Sequence[Sequence[str]],
    boxes: dict[str, _Box],
    *,
    at: tuple[float, float, float],
) -> float:
    """Draw a column's rows; return where it ends."""
    left, y, width = at
    for row in column:
        shares = _shares(width, [_columns_of(stack.cards[name]) for name in row])
        height = max(
            _height(stack.cards[name], share) for name, share in zip(row, shares, strict=True)
        )
        x = left
        for name, share in zip(row, shares, strict=True):
            boxes[name] = _Box(x, y, share, height)
            _draw_card(canvas, stack.cards[name], at=(x, y), width=share, height=height)
            x += share + _MARGIN
        y += height + _GAP
    return y - _GAP


def _path(lower: _Box, upper: _Box) -> list[tuple[float, float]]:
    """Return the way from the top of the lower box to the bottom of the upper one."""
    left, right = max(lower.x, upper.x), min(lower.right, upper.right)
    adjacent = lower.y - upper.bottom <= _GAP
    if adjacent and left < right:
        return [((left + right) / 2, lower.y), ((left + right) / 2, upper.bottom)]
    start, end = lower.right - 10, upper.right - 10
    turns = [(start, lower.y), (start, lower.y - _GAP / 2)]
    if not adjacent:  # past the rows between them, in the margin
        lane = max(lower.right, upper.right) + _MARGIN / 2
        turns += [(lane, lower.y - _GAP / 2), (lane, upper.bottom + _GAP / 2)]
    return [
        *turns,
        (end, upper.bottom + _GAP / 2 if not adjacent else lower.y - _GAP / 2),
        (end, upper.bottom),
    ]


def _columns(stack: StackPicture) -> list[list[list[str]]]:
    """Return the columns of a stack, each with its rows of logical ids."""
    parts = groups(stack.needs)
    joined = [part for part in parts if len(part) > 1]
    single = [name for part in parts if len(part) == 1 for name in part]
    columns = [rows({name: stack.needs[name] for name in part}) for part in joined]
    columns.sort(key=lambda column: -_lines_of(stack, column))
    if not columns:
        return [[[name] for name in single]]
    if single:
        # The column with the fewest lines has the most room below it.
        min(columns, key=lambda column: _lines_of(stack, column)).append(single)
    return columns


def _lines_of(stack: StackPicture, column: Sequence[Sequence[str]]) -> float:
    return sum(max(_height(stack.cards[name], 300) for name in row) for row in column)


def _weight(stack: StackPicture) -> float:
    return sum(_column_weight(stack, column) for column in _columns(stack))


def _column_weight(stack: StackPicture, column: Sequence[Sequence[str]]) -> float:
    # A stack of which nothing is drawn has a title.
    return max((sum(_columns_of(stack.cards[name]) for name in row) for row in column), default=1.0)


def _columns_of(card: Card) -> float:
    return float(max(1, len(card.columns)))


def _shares(width: float, weights: Sequence[float]) -> list[float]:
    """Divide a width, less the margins between the shares."""
    free = width - _MARGIN * (len(weights) - 1)
    return [round(free * weight / sum(weights), 1) for weight in weights]


def _draw_card(
    canvas: _Canvas,
    card: Card,
    *,
    at: tuple[float, float],
    width: float,
    height: float | None = None,
    depth: int = 0,
) -> float:
    """Draw a card, by default no higher than what it says takes; return the height of that."""
    (x, y), inner = at, width - 20
    drawing, top = _Canvas(), y + 20
    for words, style in _texts(card, inner):
        drawing.text(words, x=x + 10, y=top, style=style)
        top += _LINE
    bottom, left = top - 4, x + 10
    widths = _shares(inner, [1.0] * len(card.columns)) if card.columns else []
    for column, share in zip(card.columns, widths, strict=True):
        below = top - 8
        if column.title:
            drawing.text(column.title, x=left, y=top + 2, style="title")
        if any(item.title for item in card.columns):
            below += _LINE
        for item in column.cards:
            below += 8 + _draw_card(drawing, item, at=(left, below), width=share, depth=depth + 1)
        bottom = max(bottom, below + 8)
        left += share + _MARGIN
    canvas.box(_Box(x, y, width, bottom - y if height is None else height), _BOXES[depth])
    canvas.elements += drawing.elements
    return bottom - y


def _height(card: Card, width: float) -> float:
    return _draw_card(_Canvas(), card, at=(0, 0), width=width)


def _texts(card: Card, width: float) -> list[tuple[str, str]]:
    """Return the lines of a card as they are broken, each with its style."""
    lines = [(line, "title") for line in _wrapped(card.title, width, style="title") if line]
    return lines + [(part, "body") for line in card.lines for part in _wrapped(line, width)]


def _wrapped(words: str, width: float, *, style: str = "body") -> list[str]:
    letters = int(width / _LETTER[style])
    names_kept = wrap(words, width=letters, break_on_hyphens=False, break_long_words=False)
    fits = all(len(line) <= letters for line in names_kept)
    return names_kept if fits else wrap(words, width=letters)


def _taken(stack: StackPicture) -> str:
    parts = [f"the {_list(kinds)} of {name}" for name, kinds in stack.takes.items() if kinds]
    return f"uses {', and '.join(parts)}" if parts else ""


def _list(words: Sequence[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
