"""Slow nodes and links are found on simulated fabrics, in few rounds."""

from collections.abc import Callable, Sequence
from itertools import combinations
from math import ceil, log2

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hyperpod_cli.operate.validation.bisection import Diagnosis, Nodes, next_step
from tests.support.fabric import Fabric, names

MOST = 40
UNTIMED = settings(deadline=None)


def searched(
    fabric: Fabric, nodes: Nodes, *, only_pairs: bool = False, most: float = MOST
) -> Diagnosis:
    """Run a search, and check each of its rounds."""
    slow: dict[Nodes, bool] = {}
    rounds = 0
    while not isinstance(step := next_step(nodes, slow, only_pairs=only_pairs), Diagnosis):
        tested = [node for group in step for node in group]
        assert step and len(tested) == len(set(tested)), "a node was in two groups of a round"
        assert all(len(group) > 1 and group not in slow for group in step)
        slow |= {group: fabric.is_slow(group) for group in step}
        rounds += 1
        assert rounds <= most, f"{rounds} rounds for {len(nodes)} nodes"
    return step


def most_rounds(count: int) -> float:
    """All; pairs, and each suspect twice; the rest; halves; two ends of two parts; the rest."""
    return 8 + 5 * ceil(log2(count))


@UNTIMED
@given(count=st.integers(2, 200))
def test_a_fast_fabric_takes_one_round(count: int) -> None:
    assert searched(Fabric(), names(count), most=1) == Diagnosis()


@UNTIMED
@given(count=st.integers(5, 200), data=st.data())
def test_one_and_two_slow_nodes_are_found(count: int, data: st.DataObject) -> None:
    nodes = names(count)
    slow = data.draw(st.sets(st.sampled_from(nodes), min_size=1, max_size=2))
    for only_pairs in (False, True):
        found = searched(Fabric(slow=slow), nodes, only_pairs=only_pairs, most=8)
        assert found == Diagnosis(slow=tuple(sorted(slow)))


@UNTIMED
@given(count=st.integers(6, 200), data=st.data())
def test_two_switches_with_a_slow_link_between_them_are_found(
    count: int, data: st.DataObject
) -> None:
    nodes = names(count)
    ends = data.draw(st.sets(st.integers(0, count), min_size=4, max_size=4).map(sorted))
    one, two = nodes[ends[0] : ends[1]], nodes[ends[2] : ends[3]]
    # Else a switch is of one node that is slow with all others: a slow node.
    assume(len(one) + len(two) < count - 1)
    found = searched(Fabric(links=[(one, two)]), nodes, most=most_rounds(count))
    assert found == Diagnosis(links=((one, two),))


@UNTIMED
@given(count=st.integers(8, 100), data=st.data())
def test_a_slow_node_hides_no_slow_link(count: int, data: st.DataObject) -> None:
    nodes = names(count)
    one, two, slow = data.draw(st.permutations(nodes).map(lambda order: order[:3]))
    fabric = Fabric(slow={slow}, links=[((one,), (two,))])
    found = searched(fabric, nodes, most=most_rounds(count))
    pair = tuple(sorted((one, two)))
    assert found == Diagnosis(slow=(slow,), links=(((pair[0],), (pair[1],)),))


@UNTIMED
@given(count=st.integers(4, 40), data=st.data())
def test_without_the_order_of_switches_no_fault_is_missed(count: int, data: st.DataObject) -> None:
    """The nodes of a switch stand anywhere: more nodes are named, and the rest is fast."""
    nodes = names(count)
    mixed = data.draw(st.permutations(nodes))
    one, two = mixed[: count // 4], mixed[count // 4 : count // 2]
    fabric = Fabric(links=[(one, two)])
    found = searched(fabric, nodes, most=10 * most_rounds(count))
    named = {*found.slow, *(n for link in found.links for n in min(link, key=len))}
    rest = tuple(node for node in nodes if node not in named)
    assert named or found.unresolved
    assert found.unresolved or len(rest) < 2 or not fabric.is_slow(rest)


@pytest.mark.parametrize("slow", [("n0000", "n0001"), ("n0000",), ("n0001",)])
def test_of_two_nodes_none_can_be_told_to_be_the_slow_one(slow: Sequence[str]) -> None:
    found = searched(Fabric(slow=slow), names(2))
    assert found == Diagnosis(unresolved=names(2))


def test_all_nodes_slow_is_no_fault_of_one(
    all_slow: Callable[[int], Fabric] = lambda count: Fabric(slow=names(count)),
) -> None:
    for count in (3, 8, 100):
        found = searched(all_slow(count), names(count), most=log2(count) + 4)
        assert found == Diagnosis(unresolved=names(count))


def test_each_small_fabric() -> None:
    """Every choice of slow nodes that leaves two fast ones."""
    for count in range(3, 9):
        nodes = names(count)
        for size in range(1, count - 1):
            for slow in combinations(nodes, size):
                found = searched(Fabric(slow=slow), nodes, most=4 * count)
                assert found in (Diagnosis(slow=slow), Diagnosis(unresolved=nodes))
                assert found.slow or size >= count / 2


def test_what_was_measured_is_not_measured_again() -> None:
    nodes = names(64)
    fabric = Fabric(slow={"n0007"})
    first = next_step(nodes, {})
    assert first == [nodes]
    second = next_step(nodes, {nodes: True})
    assert isinstance(second, list) and len(second) == 32
    known = {nodes: True, **{pair: fabric.is_slow(pair) for pair in second[:-3]}}
    assert next_step(nodes, known) == second[-3:]
