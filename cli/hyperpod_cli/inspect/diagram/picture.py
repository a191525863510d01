"""The diagram in the formats that it is written in."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hyperpod_cli.aws.assembly import stacks_by_name
from hyperpod_cli.inspect.diagram import mermaid, png, svg
from hyperpod_cli.inspect.diagram.architecture import StackPicture, architecture, overview
from hyperpod_cli.inspect.diagram.existing import with_existing

TITLE = "HyperPod on EKS"


def picture(assembly: Path) -> str:
    """Return the diagram of what was synthesized into a directory, as SVG.

    Raises:
        OSError: The directory has no synthesized app.
    """
    return _svg(pictured(assembly))


def pictured(assembly: Path) -> list[StackPicture]:
    """Return what the diagram shows of what was synthesized into a directory.

    Raises:
        OSError: The directory has no synthesized app.
    """
    stacks = with_existing(stacks_by_name(assembly))
    return architecture(stacks)


def overview_picture(assembly: Path) -> str:
    """Return the overview of what was synthesized into a directory, as SVG.

    Raises:
        OSError: The directory has no synthesized app.
    """
    return _svg(overview(pictured(assembly)))


def drawn(stacks: Sequence[StackPicture], *, file_format: str) -> bytes:
    """Return the diagram as the content of a file.

    Args:
        stacks: What to draw.
        file_format: One of `FORMATS`.

    Raises:
        OpsError: What draws PNG is not installed, or there is no font.
    """
    return FORMATS[file_format](stacks)


def _svg(stacks: Sequence[StackPicture]) -> str:
    return svg.draw(stacks, title=TITLE)


FORMATS: Mapping[str, Callable[[Sequence[StackPicture]], bytes]] = {
    "svg": lambda stacks: _svg(stacks).encode(),
    "png": lambda stacks: png.draw(_svg(stacks)),
    "mermaid": lambda stacks: mermaid.draw(stacks, title=TITLE).encode(),
}
"""By the name of a format, what draws in it."""
