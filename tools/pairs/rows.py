"""Rows: valid configurations, in which every two values of switches meet that can.

What goes together is asked of the validation itself, and what it refuses is mended by its own
words: they name the keys to change.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, pairwise
from random import Random
from typing import Any

from pydantic import ValidationError

from hyperpod_cdk.checks import findings
from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Severity
from hyperpod_cdk.schema.section import findings_of
from tools.pairs.switches import CONFIGURATIONS, LEFT_OUT, Key, base, switches, value_at

Setting = tuple[Key, int | None]
"""A switch, and the position of its value; None for that in `base`."""
Pair = tuple[Setting, Setting]
Row = Mapping[Key, int]
"""The switches that are set, and the positions of their values."""

FOLDER = CONFIGURATIONS / "examples"
"""Where the files are that rows name."""
_MOST_CHANGES = 6
_MOST_CHANGES_FOR_ONE_MORE = 2
# One that is mended may have hidden others.
_MOST_FURTHER_FINDINGS = 3
_WORD = re.compile(r"[a-z_0-9]+")


def document(row: Row) -> dict[str, Any]:
    """Return the configuration with switches set."""
    found = {
        name: dict(value) if isinstance(value, dict) else value for name, value in base().items()
    }
    for key in sorted(row, key=lambda key: (len(key), key)):
        section, *names = key
        value = switches()[key][row[key]]
        if not names:
            found[section] = value
        elif found.setdefault(section, {}) is not None:
            found[section][names[0]] = value
    return found


def row_of(found: Mapping[str, Any]) -> dict[Key, int]:
    """Return the switches that a configuration sets; what is no switch is left out."""
    return {
        key: values.index(value)
        for key, values in switches().items()
        if (value := value_at(found, key)) is not LEFT_OUT and value in values
    }


def refusals(row: Row) -> tuple[str, ...]:
    """Return the lines with which validation refuses a row; none if it is valid."""
    return _refusals(tuple(sorted(row.items())))


@cache
def _refusals(row: tuple[tuple[Key, int], ...]) -> tuple[str, ...]:
    found = document(dict(row))
    lost = [key for key, _ in row if value_at(found, key) is LEFT_OUT]
    if lost:
        return tuple(f"{section}: null has no {name}" for section, name in lost)
    try:
        config = Config.model_validate(found, context={"folder": FOLDER})
    except ValidationError as error:
        return tuple(map(str, findings_of(error, model=Config)))
    return tuple(str(each) for each in findings(config) if each.severity is Severity.ERROR)


def pairs() -> Iterator[Pair]:
    """Yield every two values of different switches; a section that is null has no keys.

    Values that no row has, whatever else it has, are left out.
    """
    possible = {
        key: [setting for setting in _settings(key) if alone(setting) is not None]
        for key in switches()
    }
    for first, second in combinations(possible, 2):
        for one in possible[first]:
            for other in possible[second]:
                if first != second[:1] or None in (one[1], other[1]):
                    yield one, other


def covered(row: Row) -> Iterator[Pair]:
    """Yield the pairs that a row has."""
    return combinations(((key, row.get(key)) for key in switches()), 2)


def refusal(settings: Sequence[Setting]) -> str:
    """Return the line that refuses values, if possible one that names the keys of all."""
    needs = [alone(setting) or {} for setting in settings]
    tried = (refusals(_with(settings, rest)) for rest in ({**needs[0], **needs[-1]}, *needs, {}))
    lines = [lines[0] for lines in tried if lines]
    if not lines:
        return "no row has it: run `python -m tools.pairs`"
    return max(lines, key=lambda line: sum(key[-1] in line for key, _ in settings))


def missing(rows: Iterable[Row]) -> list[Pair]:
    """Return the pairs that no row has."""
    found = {pair for row in rows for pair in covered(row)}
    return [pair for pair in pairs() if pair not in found]


def cover(rows: Iterable[Row]) -> list[Row]:
    """Return valid rows that have every pair for which a valid row is found.

    Args:
        rows: Rows to begin with; they stay while they are valid and needed.
    """
    random = Random(0)  # noqa: S311 - for an order, the same in each run
    found = [row for row in rows if not refusals(row)]
    left = set(missing(found))
    # Those with both values set first: the others are met by chance.
    for pair in sorted(left, key=lambda pair: (str(pair).count("None"), str(pair))):
        completed = _completed(pair) if pair in left else None
        if completed is not None:
            kept = {key for key, _ in pair}
            row = _extended(completed, kept=kept, left=left, random=random)
            found.append(row)
            left.difference_update(covered(row))
    return _needed(found)


def _completed(pair: Pair) -> dict[Key, int] | None:
    """Return a valid row with a pair; None if none is found."""
    one, other = (alone(setting) or {} for setting in pair)
    for rest in ({}, {**one, **other}, {**other, **one}):
        row = _mended(_with(pair, rest), kept={key for key, _ in pair}, changes=_MOST_CHANGES)
        if row is not None:
            return row
    return None


def _extended(row: dict[Key, int], *, kept: set[Key], left: set[Pair], random: Random) -> Row:
    """Set what else can be set: of each switch the value that meets most others that are left."""
    decided: dict[Key, int | None] = {**dict.fromkeys(kept), **row}
    for key in random.sample([*switches()], len(switches())):
        if key in decided:
            continue
        news = {
            setting: sum(_pair(setting, other) in left for other in decided.items())
            for setting in _settings(key)
        }
        for setting in sorted(news, key=lambda setting: -news[setting]):
            if setting[1] is None or not news[setting]:
                break
            more = _mended(
                {**row, **_set([setting])},
                kept={*decided, key},
                changes=_MOST_CHANGES_FOR_ONE_MORE,
            )
            if more is not None:
                row = more
                decided.update(row)
                break
        decided.setdefault(key, None)
    return row


def _mended(row: dict[Key, int], *, kept: set[Key], changes: int) -> dict[Key, int] | None:
    """Return a row with other switches changed until it is valid; None if that does not help."""
    lines = refusals(row)
    if not lines:
        return row
    if changes == 0:
        return None
    words = _WORD.findall(lines[0])
    names = {*words, *map("_".join, pairwise(words))}
    for key in switches():
        if key[-1] not in names or key in kept:
            continue
        for _, value in _settings(key):
            if value == row.get(key):
                continue
            changed = {
                **{other: row[other] for other in row if other != key},
                **_set([(key, value)]),
            }
            remaining = refusals(changed)
            if lines[0] in remaining or len(remaining) > len(lines) + _MOST_FURTHER_FINDINGS:
                continue
            if mended := _mended(changed, kept={*kept, key}, changes=changes - 1):
                return mended
    return None


def _needed(rows: list[Row]) -> list[Row]:
    """Return the rows without those whose pairs others have."""
    times = Counter(pair for row in rows for pair in covered(row))
    needed = []
    for row in rows:
        if all(times[pair] > 1 for pair in covered(row)):
            times.subtract(covered(row))
        else:
            needed.append(row)
    return needed


@cache
def alone(setting: Setting) -> dict[Key, int] | None:
    """Return a valid row with a value, and what it needs."""
    return _mended(_set([setting]), kept={setting[0]}, changes=_MOST_CHANGES)


def _settings(key: Key) -> list[Setting]:
    return [(key, None), *((key, index) for index in range(len(switches()[key])))]


def _set(settings: Iterable[Setting]) -> dict[Key, int]:
    return {key: value for key, value in settings if value is not None}


def _with(settings: Sequence[Setting], rest: Row) -> dict[Key, int]:
    keys = {key for key, _ in settings}
    return {**{key: value for key, value in rest.items() if key not in keys}, **_set(settings)}


def _pair(one: Setting, other: Setting) -> Pair:
    order = [*switches()]
    return (one, other) if order.index(one[0]) < order.index(other[0]) else (other, one)


def impossible() -> list[Setting]:
    """Return the values that no row has, whatever else it has."""
    return [each for key in switches() for each in _settings(key) if alone(each) is None]
