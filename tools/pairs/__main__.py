"""`python -m tools.pairs`: complete the rows, and write what no row has, each with the reason."""

from tools.pairs.files import REFUSED, ROWS, read_rows, refused_text, rows_text
from tools.pairs.rows import cover


def main() -> None:
    """Write both files."""
    rows = cover(read_rows())
    ROWS.write_text(rows_text(rows), encoding="utf-8")
    REFUSED.write_text(refused_text(rows), encoding="utf-8")
    print(f"{len(rows)} rows")


if __name__ == "__main__":
    main()
