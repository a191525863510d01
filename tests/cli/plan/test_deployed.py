"""Which stacks are deployed, and in which order they go."""

from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk import Config
from hyperpod_cli.aws.assembly import Stack, stacks_in
from hyperpod_cli.aws.stacks import deployed
from hyperpod_cli.deliver.destroy.assembly import write_assembly
from hyperpod_cli.plan.deployed import deployed_stacks, in_order
from hyperpod_cli.plan.refusals import refused_stacks
from hyperpod_shared.aws_errors import UNKNOWN_STACK
from hyperpod_stacks.table import DEPLOYMENT_TAG, STACKS
from tests.conftest import Assemble
from tests.support.played import Played
from tests.support.provisioner.fake_s3 import client_error

OPERATORS = {"Description": "HyperPod on EKS: add-ons", "Resources": {}}
WITHOUT_TAG = {
    "Description": f"{STACKS['platform'].descriptions[0]} (hyperpod-cdk 0.1.0)",
    "Resources": {},
}
WANTED = [
    Stack(name="ml-platform", template={"Resources": {}}),
    Stack(name="ml-hyperpod", template={"Resources": {}}, needs=("ml-platform",)),
]


def aws(
    tags: Mapping[str, str] | None = None, status: str = "CREATE_COMPLETE", /, **templates: object
) -> Played:
    """Return CloudFormation with stacks with tags; an exception is what it says of one."""
    tagged = [{"Key": key, "Value": value} for key, value in (tags or {}).items()]

    def describe_stacks(*, StackName: str) -> dict[str, Any]:
        found = templates.get(StackName, client_error(UNKNOWN_STACK, "DescribeStacks"))
        if isinstance(found, Exception):
            raise found
        return {"Stacks": [{"StackStatus": status, "Tags": tagged}]}

    def get_template(*, StackName: str, **_: object) -> dict[str, Any]:
        return {"TemplateBody": templates[StackName]}

    return Played(describe_stacks=describe_stacks, get_template=get_template)


@pytest.mark.parametrize(
    ("tags", "operators", "is_there"),
    [
        # Stacks of 0.1.0 have no tag.
        ({}, OPERATORS, True),
        ({}, {"Description": STACKS["operators"].descriptions[0], "Resources": {}}, True),
        ({DEPLOYMENT_TAG: "ml"}, {"Description": "of another version", "Resources": {}}, True),
        # Another's stack has the name.
        ({DEPLOYMENT_TAG: "ml-prod"}, OPERATORS, False),
        ({}, {"Description": "Ours", "Resources": {}}, False),
        ({}, {"Description": "EKS: operators", "Resources": {}}, False),
        ({}, {"Resources": {}}, False),
        ({}, "Resources: {}", False),
        ({}, client_error("AccessDenied", "DescribeStacks"), False),
    ],
)
def test_a_stack_that_the_file_has_no_more_is_among_those_deployed(
    default_config: Config,
    capsys: pytest.CaptureFixture[str],
    tags: Mapping[str, str],
    operators: object,
    *,
    is_there: bool,
) -> None:
    made = {"Description": "HyperPod on EKS: whatever", "Resources": {}}
    client = aws(tags, **{"ml-platform": made, "ml-hyperpod": made, "ml-operators": operators})
    former = deployed_stacks(client, default_config, wanted=WANTED)
    stacks = [*in_order(WANTED, former=former, config=default_config)]
    names = [stack.name for stack in stacks]
    assert ("ml-operators" in names) is is_there
    assert ("ml-operators: " in capsys.readouterr().err) is isinstance(operators, Exception)
    if is_there:
        assert names == ["ml-platform", "ml-hyperpod", "ml-operators"]
        assert stacks[-1].needs == ("ml-platform", "ml-hyperpod")


@pytest.mark.parametrize(
    ("tags", "status", "platform", "is_foreign"),
    [
        ({}, "CREATE_COMPLETE", OPERATORS, False),
        # Made from a template of `hyperpod-cdk templates`.
        ({}, "CREATE_COMPLETE", WITHOUT_TAG, False),
        ({DEPLOYMENT_TAG: "ml"}, "CREATE_COMPLETE", {"Resources": {}}, False),
        ({}, "CREATE_COMPLETE", {"Resources": {}}, True),
        ({}, "CREATE_COMPLETE", {"Description": "EKS: the team's own", "Resources": {}}, True),
        ({}, "UPDATE_ROLLBACK_FAILED", {"Resources": {}}, True),
        ({}, "CREATE_COMPLETE", "Resources: {}", True),
        ({DEPLOYMENT_TAG: "ml-prod"}, "CREATE_COMPLETE", OPERATORS, True),
        # A first deployment may have failed before the stack had tags.
        ({}, "REVIEW_IN_PROGRESS", {"Resources": {}}, False),
        ({}, "ROLLBACK_COMPLETE", {"Resources": {}}, False),
    ],
)
def test_a_stack_of_something_else_is_neither_overwritten_nor_deleted(
    default_config: Config,
    tags: Mapping[str, str],
    status: str,
    platform: object,
    *,
    is_foreign: bool,
) -> None:
    client = aws(tags, status, **{"ml-platform": platform})
    former = deployed_stacks(client, default_config, wanted=WANTED)
    refused = [*refused_stacks(former, region="us-west-2", again="hyperpod-cdk deploy")]
    assert [line.partition(": ")[0] for line in refused] == (["ml-platform"] if is_foreign else [])
    going = [stack.name for stack in in_order(WANTED, former=former, config=default_config)]
    assert going == ([] if is_foreign else ["ml-platform"])


def test_a_template_reads_as_one_that_it_is_compared_with() -> None:
    """Botocore reads it into ordered dictionaries."""
    body: Any = OrderedDict(Rules=OrderedDict({"Fn::Not": [1]}))
    former = deployed(aws(**{"ml-platform": body}), "ml-platform")
    assert former is not None
    assert str(former.template) == str({"Rules": {"Fn::Not": [1]}})


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
