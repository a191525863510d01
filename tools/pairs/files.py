"""The rows as they are kept, and the table of what no row has."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tools.generate import REPOSITORY
from tools.pairs.rows import Row, Setting, document, impossible, missing, refusal, row_of
from tools.pairs.switches import switches

ROWS = REPOSITORY / "rehearsal" / "hyperpod_rehearsal" / "pairs.jsonl"
REFUSED = REPOSITORY / "tests" / "pairs" / "refused.md"
_HEADER = """# What no configuration has

Values, and pairs of values, with which validation refuses every configuration that
`python -m tools.pairs` tried, below the line with which it does.
"""
_MOST_CHARACTERS = 60
# What differs between refusals of a kind: positions and names of entries, values, lists.
_DIFFERENT = {
    re.compile(r"^([^: ]*?)\[\d+\]( \([^)]*\))?"): r"\1",
    re.compile(r"^([^: ]*: )('[^']*'|\[.*?\]|\{.*\}|\d+)(?= )"): r"\1…",
    re.compile(r"\((allowed|types): [^)]*\)"): r"(\1: …)",
    re.compile(r"null has no \w+"): "null has no keys",
}


def read_rows() -> list[Row]:
    """Return the rows, without what is no switch any more."""
    lines = ROWS.read_text("utf-8").splitlines() if ROWS.exists() else []
    return [row_of(json.loads(line)) for line in lines]


def rows_text(rows: Iterable[Row]) -> str:
    """Return the configurations of rows, one a line."""
    return "".join(f"{json.dumps(document(row))}\n" for row in rows)


def refused_text(rows: Iterable[Row]) -> str:
    """Return the page of what no row has."""
    refused: list[Sequence[Setting]] = [*([each] for each in impossible()), *missing(rows)]
    by_reason: dict[str, list[Sequence[Setting]]] = {}
    for settings in refused:
        line = refusal(settings)
        for pattern, same in _DIFFERENT.items():
            line = pattern.sub(same, line)
        by_reason.setdefault(line, []).append(settings)
    text = _HEADER
    for line, those in sorted(by_reason.items()):
        text += f"\n{line}\n\n" + "".join(f"- {each}\n" for each in _lines(those))
    return text


def _lines(refused: Sequence[Sequence[Setting]]) -> Iterator[str]:
    """Yield each value that is refused with others, and those; the most frequent first."""
    times = Counter(setting for settings in refused for setting in settings)
    others: dict[str, list[str]] = {}
    for settings in refused:
        first, *rest = sorted(settings, key=lambda setting: (-times[setting], str(setting)))
        others.setdefault(_shown(first), []).extend(map(_shown, rest))
    for value, partners in others.items():
        yield f"{value} with {', '.join(partners)}" if partners else value


def _shown(setting: Setting) -> str:
    key, index = setting
    value = "default" if index is None else json.dumps(switches()[key][index]).replace('"', "")
    cut = value if len(value) <= _MOST_CHARACTERS else f"{value[:_MOST_CHARACTERS]}…"
    return f"`{'.'.join(key)}: {cut}`"
