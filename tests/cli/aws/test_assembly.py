"""The stacks of an assembly, and which of them are meant."""

import pytest

from hyperpod_cli.aws.assembly import Stack, chosen, construct_paths, stacks_in
from hyperpod_cli.terminal.errors import OpsError
from tests.conftest import Assemble, Configure

EMPTY: dict[str, dict[str, str]] = {"Resources": {}}
STACKS = [
    Stack(name="ml-platform", template=EMPTY, needs=()),
    Stack(name="ml-storage", template=EMPTY, needs=("ml-platform",)),
    Stack(name="ml-hyperpod", template=EMPTY, needs=("ml-platform",)),
]


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        ([], ["ml-platform", "ml-storage", "ml-hyperpod"]),
        (["ml-platform"], ["ml-platform"]),
        (["*-hyperpod"], ["ml-platform", "ml-hyperpod"]),
        (["ml-storage", "ml-hyperpod"], ["ml-platform", "ml-storage", "ml-hyperpod"]),
    ],
)
def test_a_stack_comes_with_what_it_needs(patterns: list[str], names: list[str]) -> None:
    assert [stack.name for stack in chosen(STACKS, patterns)] == names


def test_an_unknown_stack_is_told() -> None:
    with pytest.raises(OpsError, match=r"'ml-hyperpot'; did you mean ml-hyperpod\?"):
        chosen(STACKS, ["ml-hyperpot"])


def test_the_assembly_of_the_app_is_read(assemble: Assemble, configure: Configure) -> None:
    stacks = {stack.name: stack for stack in stacks_in(assemble(configure({})).directory)}
    assert next(iter(stacks)) == "ml-platform"
    assert {name: stack.needs for name, stack in stacks.items()} == {
        "ml-platform": (),
        "ml-storage": ("ml-platform",),
        "ml-addons": ("ml-platform",),
        "ml-hyperpod": ("ml-platform",),
    }
    assert all(stack.size > 1 for stack in stacks.values())


def test_a_resource_is_called_as_its_construct() -> None:
    resources = {
        logical_id: {"Metadata": {"aws:cdk:path": path}}
        for logical_id, path in {
            "A": "ml-hyperpod/Cluster/Resource/Default",
            "B": "ml-hyperpod/Network/Vpc/Resource",
            "C": "ml-hyperpod/Addons/CoreDns",
        }.items()
    }
    assert construct_paths({"Resources": {**resources, "D": {}}}) == {
        "A": "Cluster",
        "B": "Network/Vpc",
        "C": "Addons/CoreDns",
    }
