"""What groups use of the execution role, and the rights for exactly that."""

from typing import Any

import pytest
from stacks.execution_role_needs import execution_role_needs, volume_key_ids

from hyperpod_cdk.hyperpod.node_needs import NodeNeeds
from tests.conftest import Assemble, Configure
from tests.support.template_view import TemplateView, listed

KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd"
ROLE = "arn:aws:iam::111122223333:role/Nodes"
OVERRIDE = {"subnet_ids": ["subnet-12345678"], "security_group_ids": ["sg-12345678"]}
ALARMS = {"rollback_alarms": ["errors"]}
UPDATE = {"schedule_expression": "cron(0 3 ? * SUN *)", "deployment": ALARMS}
BATCHES = {"maximum_batch_size": {"type": "INSTANCE_COUNT", "value": 1}}
PATCH = {"strategy": "DrainFirst", "deployment": {**ALARMS, **BATCHES}}
SCRIPTS = {"source_s3_uri": "s3://scripts/a/", "on_create": "x.sh"}
ALWAYS = {
    "ManageNetworkInterfaces",
    "TagNetworkInterfaces",
    "DescribeNetwork",
    "PullImages",
    "PodIdentity",
    "ListScripts",
    "ReadScripts",
}
CASES: list[Any] = [
    pytest.param({}, NodeNeeds(), set(), id="nothing"),
    pytest.param({"lifecycle": None}, NodeNeeds(), set(), id="no-script"),
    pytest.param(
        {"ebs_volumes": [{"volume_size_gib": 1, "kms_key_id": KEY}]},
        NodeNeeds(volume_key_ids=(KEY,)),
        {"GrantVolumeKeys", "DescribeVolumeKeys"},
        id="key",
    ),
    pytest.param(
        {"override_vpc": OVERRIDE},
        NodeNeeds(subnet_ids=("subnet-12345678",), security_group_ids=("sg-12345678",)),
        set(),
        id="override",
    ),
    pytest.param(
        {"lifecycle": SCRIPTS},
        NodeNeeds(lifecycle_s3_uris=("s3://scripts/a/",)),
        {"ListOtherScripts", "ReadOtherScripts"},
        id="scripts",
    ),
    pytest.param(
        {"scheduled_update": UPDATE},
        NodeNeeds(rollback_alarms=True),
        {"ReadRollbackAlarms"},
        id="alarms-of-updates",
    ),
    pytest.param(
        {"auto_patch": PATCH},
        NodeNeeds(rollback_alarms=True),
        {"ReadRollbackAlarms"},
        id="alarms-of-patches",
    ),
    pytest.param({"scheduled_update": {**UPDATE, "deployment": {}}}, NodeNeeds(), set(), id="none"),
]


def changes(group: dict[str, Any], **cluster: object) -> dict[str, Any]:
    base = {"name": "g", "instance_type": "ml.m5.large", "instance_count": 1}
    return {"cluster": {"instance_groups": [base | group], **cluster}}


@pytest.mark.parametrize(("group", "needs", "sids"), CASES)
def test_needs_come_from_the_groups(
    configure: Configure, group: dict[str, Any], needs: NodeNeeds, sids: set[str]
) -> None:
    del sids
    assert execution_role_needs(configure(changes(group)).cluster) == needs


@pytest.mark.parametrize(("group", "needs", "sids"), CASES)
def test_the_role_gets_a_statement_for_each_need(
    configure: Configure,
    assemble: Assemble,
    group: dict[str, Any],
    needs: NodeNeeds,
    sids: set[str],
) -> None:
    del needs
    platform = TemplateView(assemble(configure(changes(group))).templates()["ml-platform"])
    (policy,) = [
        item["PolicyDocument"]["Statement"]
        for item in platform.all("AWS::IAM::Policy")
        if "PodIdentity"
        in [statement.get("Sid") for statement in item["PolicyDocument"]["Statement"]]
    ]

    assert {statement["Sid"] for statement in policy} == ALWAYS | sids


@pytest.mark.parametrize(("group", "needs", "sids"), CASES)
def test_a_group_with_a_role_of_its_own_needs_nothing_of_this_one(
    configure: Configure, group: dict[str, Any], needs: NodeNeeds, sids: set[str]
) -> None:
    del needs, sids
    cluster = configure(changes({**group, "execution_role_arn": ROLE})).cluster

    assert execution_role_needs(cluster) == NodeNeeds()


def test_network_and_scripts_are_named(configure: Configure, assemble: Assemble) -> None:
    config = configure(changes({"override_vpc": OVERRIDE, "lifecycle": SCRIPTS}))
    platform = TemplateView(assemble(config).templates()["ml-platform"])

    def resources(sid: str) -> set[str]:
        return {platform.text(arn) for arn in listed(platform.statement(sid)["Resource"])}

    ec2 = "arn:aws:ec2:us-west-2:<AWS::AccountId>"
    assert {f"{ec2}:subnet/subnet-12345678", f"{ec2}:security-group/sg-12345678"} <= resources(
        "ManageNetworkInterfaces"
    )
    assert resources("ListOtherScripts") == {"arn:<AWS::Partition>:s3:::scripts"}
    assert resources("ReadOtherScripts") == {"arn:<AWS::Partition>:s3:::scripts/a/*"}


def test_the_keys_of_all_groups_count_for_scaling(configure: Configure) -> None:
    volumes = [{"volume_size_gib": 1, "kms_key_id": KEY}]
    cluster = configure(changes({"ebs_volumes": volumes, "execution_role_arn": ROLE})).cluster

    assert volume_key_ids(cluster) == (KEY,)
