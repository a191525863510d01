"""The generated part of a page that is otherwise written by hand."""

from collections.abc import Iterable, Sequence


def with_part(page: str, *, mark: str, text: str) -> str:
    """Return a page with a text between `<!-- mark -->` and `<!-- /mark -->`, its marks."""
    begin, end = f"<!-- {mark} -->\n", f"<!-- /{mark} -->"
    before, found, rest = page.partition(begin)
    _, ended, after = rest.partition(end)
    if not (found and ended):
        raise ValueError(f"no {begin.strip()} … {end} in the page")
    return f"{before}{begin}{text}{end}{after}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    head, *lines = (f"| {' | '.join(cells)} |\n" for cells in (heads, *rows))
    return f"{head}|{'---|' * len(heads)}\n{''.join(lines)}"
