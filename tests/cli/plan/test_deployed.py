"""Which stacks are deployed, and in which order they go."""

from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk import Config
from hyperpod_cli.aws.assembly import Stack, stacks_in
from hyperpod_cli.deliver.destroy.assembly import write_assembly
from hyperpod_cli.plan.deployed import deployed_stacks, in_order
from hyperpod_shared.aws_errors import UNKNOWN_STACK
from hyperpod_stacks.table import STACKS
from tests.conftest import Assemble
from tests.support.played import Played
from tests.support.provisioner.fake_s3 import client_error

OPERATORS = {"Description": "HyperPod on EKS: add-ons", "Resources": {}}
WANTED = [
    Stack(name="ml-platform", template={"Resources": {}}),
    Stack(name="ml-hyperpod", template={"Resources": {}}, needs=("ml-platform",)),
]


def aws(**templates: object) -> Played:
    """Return CloudFormation with stacks; an exception is what it says of one."""

    def describe_stacks(*, StackName: str) -> dict[str, Any]:
        found = templates.get(StackName, client_error(UNKNOWN_STACK, "DescribeStacks"))
        if isinstance(found, Exception):
            raise found
        return {"Stacks": [{"StackStatus": "CREATE_COMPLETE"}]}

    def get_template(*, StackName: str, **_: object) -> dict[str, Any]:
        return {"TemplateBody": templates[StackName]}

    return Played(describe_stacks=describe_stacks, get_template=get_template)


@pytest.mark.parametrize(
    ("operators", "names"),
    [
        (OPERATORS, ["ml-platform", "ml-hyperpod", "ml-operators"]),
        (
            {"Description": STACKS["operators"].descriptions[0], "Resources": {}},
            ["ml-platform", "ml-hyperpod", "ml-operators"],
        ),
        # Another's stack has the name.
        ({"Description": "Ours", "Resources": {}}, ["ml-platform", "ml-hyperpod"]),
        ({"Description": "EKS: operators", "Resources": {}}, ["ml-platform", "ml-hyperpod"]),
        ({"Resources": {}}, ["ml-platform", "ml-hyperpod"]),
        ("Resources: {}", ["ml-platform", "ml-hyperpod"]),
        (client_error("AccessDenied", "DescribeStacks"), ["ml-platform", "ml-hyperpod"]),
    ],
)
def test_a_stack_that_the_file_has_no_more_is_among_those_deployed(
    default_config: Config, operators: object, names: list[str]
) -> None:
    made: dict[str, Any] = {"Resources": {}}
    client = aws(**{"ml-platform": made, "ml-hyperpod": made, "ml-operators": operators})
    former = deployed_stacks(client, default_config, wanted=WANTED)
    stacks = [*in_order(WANTED, former=former, config=default_config)]
    assert [stack.name for stack in stacks] == names
    if "ml-operators" in names:
        assert stacks[-1].needs == ("ml-platform", "ml-hyperpod")


def test_the_cdk_cli_can_delete_what_is_synthesized_no_more(
    default_config: Config, assemble: Assemble, tmp_path: Path
) -> None:
    like = assemble(default_config).directory
    needs = ("ml-platform",)
    stacks = [WANTED[0], Stack(name="ml-operators", template=OPERATORS, needs=needs)]
    write_assembly(tmp_path, stacks=stacks, like=like)
    platform, operators = stacks_in(tmp_path)
    sample = stacks_in(like)[0]
    assert (operators.name, operators.needs) == ("ml-operators", ("ml-platform",))
    assert (platform.region, platform.account) == (sample.region, sample.account)
    assert operators.execution_role == sample.execution_role
