"""The diagram as a Mermaid flowchart, which GitHub and the docs site draw."""

import re
from collections.abc import Iterator, Sequence

from hyperpod_cli.inspect.diagram.architecture import StackPicture, direct
from hyperpod_cli.inspect.diagram.card import Card

_NOT_OF_AN_ID = re.compile(r"\W")
_SEPARATOR = "<br>"
# https://mermaid.js.org/syntax/flowchart.html#entity-codes-to-escape-characters
_ENTITIES = str.maketrans(
    {"#": "#35;", "&": "#amp;", "<": "#lt;", ">": "#gt;", '"': "#quot;", "`": "#96;"}
)


def draw(stacks: Sequence[StackPicture], *, title: str) -> str:
    """Return the flowchart, the same for the same stacks.

    Args:
        stacks: What to draw.
        title: Its title, which screen readers read out.
    """
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
