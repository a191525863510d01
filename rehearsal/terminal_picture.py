"""What a rehearsal prints, as a picture for the documentation."""

from pathlib import Path

from rich.console import Console

_WIDTH = 110
_FONT_RATIO = 0.6
# As rich has it, but without its web font: GitHub loads none, and it is not this project's.
_SVG = """\
<svg class="{unique_id}" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix, .{unique_id}-title {{
  font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}}
.{unique_id}-matrix {{ font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def recording_console() -> Console:
    """Return a console that keeps what it prints, and shows no spinner, which a picture cannot."""
    return Console(
        record=True,
        force_terminal=False,
        width=_WIDTH,
        highlight=False,
        markup=False,
        emoji=False,
    )


def picture(console: Console, *, title: str, name: str) -> str:
    """Return what was printed as an SVG.

    Args:
        console: A console that keeps what it prints.
        title: Text of the title bar, such as the command.
        name: What the styles in it are called.
    """
    return console.export_svg(
        title=title, code_format=_SVG, font_aspect_ratio=_FONT_RATIO, unique_id=name
    )


def write_picture(console: Console, path: Path, *, title: str) -> None:
    """Write what was printed as an SVG.

    Args:
        console: A console from `recording_console`.
        path: The file.
        title: Text of the title bar, such as the command.
    """
    path.write_text(picture(console, title=title, name="rehearsal"), encoding="utf-8")
