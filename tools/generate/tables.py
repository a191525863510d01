"""Tables in pages that are otherwise written by hand, each between two comments."""

from collections.abc import Iterable, Sequence


def with_table(page: str, name: str, *, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a page with the table of a name.

    Args:
        page: It has the comments `<!-- name -->` and `<!-- end of name -->`.
        name: Name of the table.
        heads: Its columns.
        rows: Its cells.
    """
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    head, *lines = (f"| {' | '.join(cells)} |\n" for cells in (heads, *rows))
    return f"{before}{begin}{head}|{'---|' * len(heads)}\n{''.join(lines)}{end}{after}"
