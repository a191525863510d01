"""What the deletion of stacks is said to delete, and to leave."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.stacks import Deployed, DeployedResource
from hyperpod_cli.deliver.destroy import deletion
from hyperpod_cli.plan import removal as planning
from hyperpod_cli.plan import request
from hyperpod_cli.plan.plan import Plan
from hyperpod_cli.plan.removal import outcome, removal_effects, removal_lines
from hyperpod_cli.terminal.errors import DECLINED, OpsError
from hyperpod_stacks.table import DEPLOYMENT_TAG
from tests.support.configs import CONFIG_FOLDER
from tests.support.played import Played
from tests.support.provisioner.fake_s3 import client_error

EVERYTHING = "hyperpod-cdk destroy --all config/mine.yaml"
TEMPLATE = {
    "Resources": {
        "Files": {"DeletionPolicy": "Retain"},
        "Logs": {"DeletionPolicy": "RetainExceptOnCreate"},
        "Volume": {"DeletionPolicy": "Snapshot"},
        "Role": {"DeletionPolicy": "Delete"},
        "Vpc": {},
    }
}
RESOURCES = [
    DeployedResource(logical_id="Files", physical_id="fs-1", type="AWS::FSx::FileSystem"),
    DeployedResource(logical_id="Logs", physical_id="/aws/a", type="AWS::Logs::LogGroup"),
    DeployedResource(logical_id="Volume", physical_id="vol-1", type="AWS::EC2::Volume"),
    DeployedResource(logical_id="Role", physical_id="r", type="AWS::IAM::Role"),
    DeployedResource(logical_id="Vpc", physical_id="vpc-1", type="AWS::EC2::VPC"),
    DeployedResource(logical_id="Net", physical_id="subnet-1", type="AWS::EC2::Subnet"),
    DeployedResource(logical_id="Nodes", physical_id="ml", type="Custom::HyperPodCluster"),
    DeployedResource(logical_id="CDKMetadata", physical_id="m", type="AWS::CDK::Metadata"),
]


def removal(
    name: str,
    template: dict[str, Any],
    resources: Sequence[DeployedResource],
    *,
    staying: Sequence[str] = (),
) -> Plan:
    """Return the plan of a deletion of one stack."""
    effects = [*removal_effects(name, template=template, resources=resources)]
    stack = Stack(name=name, template=template)
    return Plan(stacks=[stack], effects=effects, staying=staying)


HOLDING = [
    *RESOURCES[3:4],
    DeployedResource(logical_id="Check", physical_id="fs-1", type="Custom::Availability"),
    DeployedResource(logical_id="Eks", physical_id="ml-eks", type="AWS::EKS::Cluster"),
    DeployedResource(logical_id="Scripts", physical_id="ml-b", type="AWS::S3::Bucket"),
    *RESOURCES[:1],
]


@pytest.mark.parametrize(
    ("template", "resources", "staying"),
    [
        (TEMPLATE, RESOURCES, ["ml-platform"]),
        ({}, RESOURCES[3:4], []),
        # What holds files and workloads comes first.
        ({}, HOLDING, []),
    ],
    ids=["some stay", "nothing stays", "files and workloads"],
)
def test_it_says_what_goes_what_stays_and_why(
    template: dict[str, Any],
    resources: list[DeployedResource],
    staying: list[str],
    snapshot: SnapshotAssertion,
) -> None:
    plan = removal("ml-storage", template, resources, staying=staying)
    assert "\n".join(removal_lines(plan, removed=(), everything=EVERYTHING)) == snapshot
    assert outcome(plan) == snapshot


def test_no_name_is_broken_over_lines() -> None:
    names = [f"ml-{number}-{'x' * 20 * number}" for number in range(1, 6)]
    resources = [
        DeployedResource(logical_id=name, physical_id=name, type="Custom::HelmRelease")
        for name in names
    ]
    plan = removal("ml-addons", {}, resources)
    lines = [*removal_lines(plan, removed=(), everything=EVERYTHING)]
    for name in names:
        assert any(f"HelmRelease {name}" in line for line in lines)


@pytest.mark.parametrize("status", ["CREATE_COMPLETE", "ROLLBACK_FAILED"])
def test_what_a_stack_retains_is_said_to_stay_whatever_became_of_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], status: str
) -> None:
    session = Played(describe_stacks={"Stacks": [{"StackStatus": "REVIEW_IN_PROGRESS"}]})
    there = {"ml-storage": Deployed(status=status, template=TEMPLATE)}
    monkeypatch.setattr(request, "deployer_session", lambda _: session)
    monkeypatch.setattr(request, "stacks_in", lambda _: [Stack(name="ml-storage", template={})])
    monkeypatch.setattr(planning, "deployed_stacks", lambda *_, **__: there)
    monkeypatch.setattr(planning, "resources_of", lambda *_: iter(RESOURCES))
    monkeypatch.setattr(deletion, "agreed", lambda _: False)
    asked = {"everything": True, "express": False, "yes": False}
    path = CONFIG_FOLDER / "default.yaml"
    assert deletion.destroy(path, templates=Path("cdk.out"), **asked) == DECLINED
    deleted, _, stays = capsys.readouterr().out.partition("This stays")
    assert ("fs-1" in deleted, "fs-1" in stays) == (False, True)

    # A yes is about what was shown.
    monkeypatch.setattr(deletion, "agreed", lambda _: True)
    with pytest.raises(OpsError, match="ml-storage: changed after"):
        deletion.destroy(path, templates=Path("cdk.out"), **asked)


@pytest.mark.parametrize(
    ("template", "step"),
    [
        (client_error("AccessDenied", "GetTemplate", ""), "allow cloudformation:GetTemplate$"),
        (client_error("ExpiredToken", "GetTemplate", ""), "sign in again$"),
        ({"TemplateBody": "Resources: {}"}, "in CloudFormation$"),
    ],
    ids=["denied", "expired", "not of the CDK"],
)
def test_nothing_goes_where_it_cannot_be_told_whose_it_is(
    monkeypatch: pytest.MonkeyPatch, template: object, step: str
) -> None:
    """A stack of 0.1.0 has no tag, and another's may have the name."""
    tag = {"Key": DEPLOYMENT_TAG, "Value": "ml"}
    session = Played(
        describe_stacks={"Stacks": [{"StackStatus": "CREATE_COMPLETE", "Tags": [tag]}]},
        get_template=template,
    )
    monkeypatch.setattr(request, "deployer_session", lambda _: session)
    monkeypatch.setattr(request, "stacks_in", lambda _: [Stack(name="ml-hyperpod", template={})])
    with pytest.raises(OpsError, match=step):
        deletion.destroy(
            CONFIG_FOLDER / "default.yaml",
            templates=Path("cdk.out"),
            everything=True,
            express=False,
            yes=True,
        )
