"""Writes an SVG image as PNG."""

from typing import Any

from hyperpod_cli.terminal.errors import OpsError

# Twice the size, for high-density screens.
_ZOOM = 2
_LETTER = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{}</svg>'
# What macOS, Windows and distributions of Linux have; resvg looks for a family by its name alone.
_FAMILIES = ("Helvetica", "Arial", "DejaVu Sans", "Liberation Sans", "Noto Sans", "Open Sans")


def png(svg: str) -> bytes:
    """Return an SVG image as PNG, in a font of this machine."""
    try:
        import resvg_py  # noqa: PLC0415 - optional
    except ModuleNotFoundError:
        raise OpsError(
            "--output: a PNG takes resvg-py, which is not installed; run `pip install resvg-py`, "
            "or use svg"
        ) from None
    family = next((family for family in _FAMILIES if _is_installed(family, resvg_py)), None)
    if family is None:
        raise OpsError(
            f"--output: a PNG takes a font, and this machine has none of {', '.join(_FAMILIES)}; "
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
