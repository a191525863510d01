"""Which nodes to test together next, to find those that slow all others down.

A collective operation is as slow as the slowest node, or link between two nodes, that takes part in
it. Groups that share no node are tested at the same time, in a round. So a slow node is found by
pairs, all of them at once: a node of a slow pair is tested again with two nodes that were fast.
What is slow although each node by itself is fast, such as two switches between which a link is
slow, is found by halves, for which nodes of a switch must stand next to each other in the order.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log2

Nodes = tuple[str, ...]
Slow = Mapping[Nodes, bool]
"""Whether groups of nodes were slow; the nodes of a group in their order."""
Search = Generator[list[Nodes], Slow, "Diagnosis"]

_MOST_LINKS = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnosis:
    """What slows a group of nodes down.

    Attributes:
        slow: Nodes that are slow with two others that are fast with each other.
        links: Nodes that are slow together with other nodes, though both are fast among themselves.
        unresolved: Nodes of which no two were fast together, or that are still slow without the
            others; no node can be told from them.
    """

    slow: Nodes = ()
    links: tuple[tuple[Nodes, Nodes], ...] = ()
    unresolved: Nodes = ()


def next_step(
    nodes: Sequence[str], slow: Slow, *, only_pairs: bool = False
) -> list[Nodes] | Diagnosis:
    """Return the groups to test next, at the same time; or what was found.

    It is a function of what was measured, so a search that was interrupted goes on. Nodes of a
    switch are next to each other. Groups larger than pairs cannot be judged with `only_pairs`.
    """
    search = _by_pairs(tuple(nodes)) if only_pairs else _search(tuple(nodes))
    try:
        wanted = next(search)
        while True:
            missing = [group for group in wanted if group not in slow]
            if missing:
                return missing
            wanted = search.send(slow)
    except StopIteration as ended:
        diagnosis: Diagnosis = ended.value
        return diagnosis


def _search(nodes: Nodes) -> Search:
    slow = yield [nodes]
    if not slow[nodes]:
        return Diagnosis()
    diagnosis = yield from _by_pairs(nodes)
    if diagnosis.unresolved:
        return diagnosis
    rest = _without(nodes, diagnosis.slow)
    links: list[tuple[Nodes, Nodes]] = []
    while len(rest) > 1:
        slow = yield [rest]
        if not slow[rest]:
            break
        if len(links) == _MOST_LINKS:
            return Diagnosis(slow=diagnosis.slow, links=tuple(links), unresolved=rest)
        link = yield from _slow_link(rest)
        links.append(link)
        rest = _without(rest, min(link, key=len))
    return Diagnosis(slow=diagnosis.slow, links=tuple(links))


def _without(nodes: Nodes, gone: Sequence[str]) -> Nodes:
    return tuple(node for node in nodes if node not in gone)


def _matching(nodes: Nodes, number: int) -> list[Nodes]:
    """Return pairs such that each of two matchings has others: as in a tournament.

    The first has neighbors in it. https://en.wikipedia.org/wiki/Round-robin_tournament
    """
    order = {node: place for place, node in enumerate(nodes)}
    if number == 0:
        return [*zip(nodes[::2], nodes[1::2], strict=False)]
    fixed, *others = [*nodes, *([""] if len(nodes) % 2 else [])]
    turned = [fixed, *others[number:], *others[:number]]
    half = len(turned) // 2
    pairs = zip(turned[:half], reversed(turned[half:]), strict=True)
    return [
        (one, two) if order[one] < order[two] else (two, one) for one, two in pairs if one and two
    ]


def _by_pairs(nodes: Nodes) -> Search:
    """Find slow nodes; of two that are slow only together, neither is one."""
    pairs: list[Nodes] = []
    slow: Slow = {}
    for number in range(ceil(log2(len(nodes))) + 2):
        pairs = _matching(nodes, number)
        slow = yield pairs
        if not all(slow[pair] for pair in pairs):
            break
    fast = {node for pair in pairs if not slow[pair] for node in pair}
    if not fast:
        return Diagnosis(unresolved=nodes)
    verified = yield from _confirmed(nodes, fast)
    links = [((one,), (two,)) for one, two in pairs if slow[one, two] and not verified & {one, two}]
    return Diagnosis(
        slow=tuple(node for node in nodes if node in verified), links=tuple(links), unresolved=()
    )


def _confirmed(nodes: Nodes, fast: set[str]) -> Generator[list[Nodes], Slow, set[str]]:
    """Return the nodes that are slow with two fast ones, one before and one after them.

    With one on either side, no switch that is slow with theirs has both.
    """
    tested: dict[str, list[str]] = {node: [] for node in nodes if node not in fast}
    partners = {node: _partners(node, nodes, fast) for node in tested}
    place = {node: number for number, node in enumerate(nodes)}
    verified: set[str] = set()
    while tested:
        free = set(fast)
        asked: dict[str, Nodes] = {}
        for node, former in tested.items():
            side = partners[node][len(former)]
            partner = next((node for node in side if node in free and node not in former), None)
            if partner is not None:
                free.discard(partner)
                one, two = sorted((node, partner), key=place.__getitem__)
                asked[node] = (one, two)
                former.append(partner)
        slow = yield [*asked.values()]
        for node, pair in asked.items():
            if slow[pair] and len(tested[node]) < len(partners[node]):
                continue
            del tested[node]
            if slow[pair]:
                verified.add(node)
    return verified


def _partners(node: str, nodes: Nodes, fast: set[str]) -> list[list[str]]:
    """Return the fast nodes to test a node with, first and then, the best first.

    Those are the nearest before it and after it; at an end, the nearest and the farthest.
    """
    here = nodes.index(node)
    before = [node for node in reversed(nodes[:here]) if node in fast]
    after = [node for node in nodes[here + 1 :] if node in fast]
    if before and after:
        return [before, after]
    near = before or after
    return [near, near[::-1]]


def _slow_link(nodes: Nodes) -> Generator[list[Nodes], Slow, tuple[Nodes, Nodes]]:
    """Find two parts of a group that are slow together, each of which is fast."""
    groups = [nodes]
    while True:
        halves = [(group[: len(group) // 2], group[len(group) // 2 :]) for group in groups]
        several = [half for pair in halves for half in pair if len(half) > 1]
        slow = yield several
        inner = [half for half in several if slow[half]]
        if not inner:
            break
        groups = inner
    one, two = halves[0]
    cut = nodes.index(two[0])
    # Their switches may go on in neighboring groups, where something else may be slow.
    for before, after in ((nodes[:cut], nodes[cut:]), (one, two)):
        first = yield from _narrowed(before, two, before=True)
        second = yield from _narrowed(after, first, before=False)
        several = [part for part in (first, second) if len(part) > 1]
        slow = yield [*several]
        if not any(slow[part] for part in several):
            slow = yield [first + second]
            if slow[first + second]:
                return first, second
    return one, two


def _narrowed(part: Nodes, others: Nodes, *, before: bool) -> Generator[list[Nodes], Slow, Nodes]:
    """Return the shortest stretch of a part that has all nodes that are slow with others."""
    shortest, longest = 0, len(part)
    while longest - shortest > 1:
        middle = (shortest + longest) // 2
        group = part[:middle] + others if before else others + part[:middle]
        slow = yield [group]
        shortest, longest = (shortest, middle) if slow[group] else (middle, longest)
    first = longest - 1
    shortest, longest = first, len(part)
    while longest - shortest > 1:
        middle = (shortest + longest) // 2
        group = part[middle:] + others if before else others + part[middle:]
        slow = yield [group]
        shortest, longest = (middle, longest) if slow[group] else (shortest, middle)
    return part[first : shortest + 1]
