"""The diagram in the formats that it is written in: SVG, PNG and Mermaid."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hyperpod_cli.aws.assembly import stacks_by_name
from hyperpod_cli.inspect.diagram.architecture import StackPicture, architecture, direct, overview
from hyperpod_cli.inspect.diagram.card import Card
from hyperpod_cli.inspect.diagram.network_cards import with_existing
from hyperpod_cli.inspect.diagram.svg import draw
from hyperpod_cli.terminal.errors import OpsError

_NOT_OF_AN_ID = re.compile(r"\W")
_SEPARATOR = "<br>"
# https://mermaid.js.org/syntax/flowchart.html#entity-codes-to-escape-characters
_ENTITIES = str.maketrans(
    {"#": "#35;", "&": "#amp;", "<": "#lt;", ">": "#gt;", '"': "#quot;", "`": "#96;"}
)


def mermaid(stacks: Sequence[StackPicture], *, title: str) -> str:
    """Return the flowchart, the same for the same stacks; screen readers read its title out."""
    return "\n".join(["flowchart BT", f"  accTitle: {title}", *_lines(stacks)]) + "\n"


def _lines(stacks: Sequence[StackPicture]) -> Iterator[str]:
    for stack in stacks:
        yield f"  subgraph {_id(stack.name)}[{_label(f'Stack {stack.name}')}]"
        for logical_id, card in stack.cards.items():
            yield f"    {_id(stack.name, logical_id)}[{_label(card.title, *_said(card))}]"
        yield "  end"
    for stack in stacks:
        for logical_id, needed in stack.needs.items():
            for other in needed:
                yield f"  {_id(stack.name, logical_id)} --> {_id(stack.name, other)}"
    for name, others in direct({stack.name: tuple(stack.takes) for stack in stacks}).items():
        for other in others:
            yield f"  {_id(name)} --> {_id(other)}"


def _said(card: Card) -> Iterator[str]:
    """Yield what a card says below its title, the cards inside it among that."""
    yield from (line for line in card.lines if line)
    for column in card.columns:
        if column.title:
            yield column.title
        for inner in column.cards:
            yield ", ".join([inner.title, *(line for line in inner.lines if line)])


def _id(*parts: str) -> str:
    # The prefix keeps IDs apart from Mermaid's keywords, such as `end`.
    return "n_" + "_".join(_NOT_OF_AN_ID.sub("_", part) for part in parts)


def _label(*lines: str) -> str:
    return f'"{_SEPARATOR.join(line.translate(_ENTITIES) for line in lines)}"'


# Twice the size, for high-density screens.
_ZOOM = 2
_LETTER = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{}</svg>'
# What macOS, Windows and distributions of Linux have; resvg looks for a family by its name alone.
_FAMILIES = ("Helvetica", "Arial", "DejaVu Sans", "Liberation Sans", "Noto Sans", "Open Sans")


def _png(svg: str) -> bytes:
    """Return an SVG image as PNG, in a font of this machine."""
    try:
        import resvg_py  # noqa: PLC0415 - optional
    except ModuleNotFoundError:
        raise OpsError(
            "--format: 'png' takes resvg-py, which is not installed; run `pip install resvg-py`, "
            "or use svg"
        ) from None
    family = next((family for family in _FAMILIES if _is_installed(family, resvg_py)), None)
    if family is None:
        raise OpsError(
            f"--format: 'png' takes a font, and this machine has none of {', '.join(_FAMILIES)}; "
            "install one, or use svg"
        )
    return resvg_py.svg_to_bytes(svg_string=svg, sans_serif_family=family, zoom=_ZOOM)


def _is_installed(family: str, resvg: Any) -> bool:  # noqa: ANN401 - a module
    """Tell whether a letter leaves a trace: resvg draws none in a family that is not there."""
    blank, letter = (
        resvg.svg_to_bytes(svg_string=_LETTER.format(content), sans_serif_family=family)
        for content in ("", '<text y="8" font-family="sans-serif">H</text>')
    )
    return bool(blank != letter)


_TITLE, _WITHOUT_HYPERPOD = "HyperPod on EKS", "EKS"


def picture(assembly: Path) -> str:
    """Return the diagram of what was synthesized into a directory, as SVG; an OSError if none."""
    return _svg(pictured(assembly))


def pictured(assembly: Path) -> list[StackPicture]:
    """Return what the diagram shows of a directory; an OSError if nothing was synthesized there."""
    stacks = with_existing(stacks_by_name(assembly))
    return architecture(stacks)


def overview_picture(assembly: Path) -> str:
    """Return the overview of what was synthesized into a directory, as SVG."""
    return _svg(overview(pictured(assembly)))


def _title(stacks: Sequence[StackPicture]) -> str:
    """Return what the stacks say they are, before the colon."""
    said = [each.description.partition(":")[0] for each in stacks]
    default = f"{_WITHOUT_HYPERPOD} node groups" if _WITHOUT_HYPERPOD in said else _TITLE
    return next((each for each in said if each.startswith("HyperPod ")), default)


def _svg(stacks: Sequence[StackPicture]) -> str:
    return draw(stacks, title=_title(stacks))


def drawn(stacks: Sequence[StackPicture], *, file_format: str) -> bytes:
    """Return the diagram as svg, png, which takes resvg-py and a font, or mermaid."""
    if file_format == "mermaid":
        return mermaid(stacks, title=_title(stacks)).encode()
    svg = _svg(stacks)
    return _png(svg) if file_format == "png" else svg.encode()
