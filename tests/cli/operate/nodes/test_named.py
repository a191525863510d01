"""Which nodes a name means."""

import pytest

from hyperpod_cli.operate.nodes.named import named_nodes
from hyperpod_cli.terminal.errors import OpsError
from tests.support.clusters import node

NODES = [node(1, "alone"), *(node(number, "many") for number in range(2, 15))]

GROUPS = ("alone", "many", "empty")
FOUND = {
    "alone": 1,
    "alone/1": 1,
    "many/1": 2,
    "many/13": 14,
    f"i-{3:017x}": 3,
    f"hyperpod-i-{3:017x}": 3,
}
REFUSED = {
    "many": r"^node: 'many' has 13 nodes: many/1 \(i-0*2\), .* and 3 more; name one$",
    "many/14": r"^node: 'many/14' is not in ml; it has many/1 \(i-0*2\), .* and 3 more$",
    "many/0": "is not in ml; it has many/1",
    "none": r"is not in ml; it has alone/1 \(i-0*1\)",
    "": "is not in ml",
    "empty": "^node: group 'empty' of ml has no nodes now; see `hyperpod-ops status` and",
    "empty/1": "has no nodes now",
}


@pytest.mark.parametrize(("name", "number"), FOUND.items())
def test_a_name_means_one_node(name: str, number: int) -> None:
    (found,) = named_nodes(NODES, [name], cluster="ml", groups=GROUPS)

    assert found.node.id == f"i-{number:017x}"


@pytest.mark.parametrize(("name", "told"), REFUSED.items())
def test_a_name_that_means_none_or_several_is_refused(name: str, told: str) -> None:
    with pytest.raises(OpsError, match=told):
        named_nodes(NODES, [name], cluster="ml", groups=GROUPS)


def test_a_node_that_is_named_twice_is_meant_once() -> None:
    assert len(named_nodes(NODES, ["alone", "alone/1", "many/1"], cluster="ml", groups=GROUPS)) == 2


def test_a_cluster_without_nodes_says_so() -> None:
    with pytest.raises(OpsError, match="which has no nodes now"):
        named_nodes([], ["workers"], cluster="ml", groups=GROUPS)
