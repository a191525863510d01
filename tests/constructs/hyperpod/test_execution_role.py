"""The roles of a cluster: of its nodes, made or given, and of its autoscaling."""

from collections.abc import Callable, Sequence
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import (
    ClusterConfig,
    ConfigError,
    DataBucketConfig,
    Eks,
    ExecutionRole,
    InstanceGroupConfig,
    LifecycleScripts,
    NodeSubnets,
    TooLargeError,
)
from hyperpod_cdk.hyperpod.execution_role import AutoScalingRole
from hyperpod_cdk.hyperpod.orchestrator import Orchestrator, Slurm
from tests.conftest import Configure, Raises, Synthesize
from tests.constructs.conftest import SECURITY_GROUP_ID, SUBNET_IDS, View
from tests.support.configs import default_document
from tests.support.refusals import lines_for
from tests.support.template_view import TemplateView, listed

EC2 = "arn:aws:ec2:us-west-2:<AWS::AccountId>"
OTHER_ROLE = "arn:aws:iam::111122223333:role/Nodes"
BUCKET = "arn:aws:s3:::sagemaker-bucket"
# Statement: resources, as narrow as AWS takes them.
SCOPE = {
    "ManageNetworkInterfaces": {
        f"{EC2}:network-interface/*",
        f"{EC2}:instance/*",
        f"{EC2}:security-group/{SECURITY_GROUP_ID}",
        *(f"{EC2}:subnet/{subnet}" for subnet in SUBNET_IDS),
    },
    # Instances are in an account of the service.
    "DetachNetworkInterfaces": {"*"},
    "AttachNetworkInterfaces": {"arn:aws:sagemaker:us-west-2:<AWS::AccountId>:cluster/*"},
    "TagNetworkInterfaces": {f"{EC2}:network-interface/*"},
    "DescribeNetwork": {"*"},
    "PullImages": {"arn:<AWS::Partition>:ecr:*:*:repository/*"},
    "PodIdentity": {"arn:aws:eks:us-west-2:<AWS::AccountId>:cluster/eks"},
    "ListScripts": {BUCKET},
    "ReadScripts": {f"{BUCKET}/*"},
}
CPU: dict[str, Any] = {"name": "cpu", "instance_type": "ml.m5.large", "instance_count": 1}
KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd"
ALARMS = {"rollback_alarms": ["errors"]}
UPDATE = {"schedule_expression": "cron(0 3 ? * SUN *)", "deployment": ALARMS}
BATCHES = {"maximum_batch_size": {"type": "INSTANCE_COUNT", "value": 1}}
PATCH = {"strategy": "DrainFirst", "deployment": {**ALARMS, **BATCHES}}
SCRIPTS = {"source_s3_uri": "s3://scripts/a/", "on_create": "x.sh"}
OVERRIDE = {"subnet_ids": ["subnet-12345678"], "security_group_ids": ["sg-12345678"]}
# A field of a group, and what the role may do for it beyond `SCOPE`.
NEEDS: list[Any] = [
    pytest.param({}, {}, id="nothing"),
    pytest.param({"lifecycle": None}, {}, id="no-script"),
    pytest.param(
        {"ebs_volumes": [{"volume_size_gib": 1, "kms_key_id": KEY}]},
        {"GrantVolumeKeys": {KEY}, "DescribeVolumeKeys": {KEY}},
        id="key",
    ),
    pytest.param(
        {"override_vpc": OVERRIDE},
        {
            "ManageNetworkInterfaces": {
                *SCOPE["ManageNetworkInterfaces"],
                f"{EC2}:subnet/subnet-12345678",
                f"{EC2}:security-group/sg-12345678",
            }
        },
        id="override",
    ),
    pytest.param(
        {"lifecycle": SCRIPTS},
        {
            "ListOtherScripts": {"arn:<AWS::Partition>:s3:::scripts"},
            "ReadOtherScripts": {"arn:<AWS::Partition>:s3:::scripts/a/*"},
        },
        id="scripts",
    ),
    pytest.param(
        {"scheduled_update": UPDATE}, {"ReadRollbackAlarms": {"*"}}, id="alarms-of-updates"
    ),
    pytest.param({"auto_patch": PATCH}, {"ReadRollbackAlarms": {"*"}}, id="alarms-of-patches"),
    pytest.param({"scheduled_update": {**UPDATE, "deployment": {}}}, {}, id="no-alarms"),
]

Make = Callable[..., TemplateView]


@pytest.fixture
def make(
    *,
    stack: cdk.Stack,
    vpc: ec2.IVpc,
    eks_cluster: eks.ICluster,
    node_subnets: NodeSubnets,
    security_group: ec2.ISecurityGroup,
    lifecycle_scripts: LifecycleScripts,
    view: View,
) -> Make:
    """Return a function from fields of a group to a template with the role of its nodes."""

    def made(
        *,
        data_buckets: Sequence[DataBucketConfig] = (),
        orchestrator: Orchestrator | None = None,
        **fields: object,
    ) -> TemplateView:
        group = InstanceGroupConfig(**{**CPU, **fields})
        ExecutionRole(
            stack,
            "ExecutionRole",
            cluster=ClusterConfig(
                name="ml", instance_groups=(group,), data_buckets=tuple(data_buckets)
            ),
            orchestrator=orchestrator or Eks(cluster=eks_cluster),
            vpc=vpc,
            subnets=node_subnets,
            security_group=security_group,
            lifecycle_scripts=lifecycle_scripts,
        )
        return view()

    return made


def statements(seen: TemplateView) -> list[dict[str, Any]]:
    """Return the statements of the role's only policy."""
    reference = {"Ref": seen.id("AWS::IAM::Role", Description="HyperPod cluster nodes")}
    policy = seen.one("AWS::IAM::Policy", Roles=[reference])
    result: list[dict[str, Any]] = policy["PolicyDocument"]["Statement"]
    return result


def scope(seen: TemplateView) -> dict[str, set[str]]:
    return {
        statement["Sid"]: {seen.text(arn) for arn in listed(statement["Resource"])}
        for statement in statements(seen)
    }


def test_nodes_of_slurm_have_rights_on_no_kubernetes_cluster(make: Make) -> None:
    seen = make(orchestrator=Slurm())
    actions = {
        each["Sid"]: {action.partition(":")[2] for action in listed(each["Action"])}
        for each in statements(seen)
    }

    # What the VPC CNI and Pod Identity have on EKS.
    assert scope(seen).keys() == SCOPE.keys() - {"AttachNetworkInterfaces", "PodIdentity"}
    assert actions["ManageNetworkInterfaces"] == {
        "CreateNetworkInterface",
        "CreateNetworkInterfacePermission",
        "DeleteNetworkInterface",
        "DeleteNetworkInterfacePermission",
    }
    assert "DescribeFileSystems" in actions["DescribeNetwork"]


@pytest.mark.parametrize(("fields", "more"), NEEDS)
def test_every_statement_has_the_narrow_scope_that_the_groups_need(
    make: Make, fields: dict[str, Any], more: dict[str, set[str]]
) -> None:
    seen = make(**fields)

    assert scope(seen) == SCOPE | more
    assert {statement["Effect"] for statement in statements(seen)} == {"Allow"}


@pytest.mark.parametrize(("fields", "more"), NEEDS)
def test_a_group_with_a_role_of_its_own_needs_nothing_of_this_one(
    make: Make, fields: dict[str, Any], more: dict[str, set[str]]
) -> None:
    del more
    assert scope(make(**fields, execution_role_arn=OTHER_ROLE)) == SCOPE


def test_it_reads_the_named_buckets_of_data_and_no_more(make: Make) -> None:
    s3 = "arn:<AWS::Partition>:s3:::"
    seen = make(
        data_buckets=[
            DataBucketConfig(name="tokenizers"),
            DataBucketConfig(name="data", prefix="sets/c4", kms_key_arn=KEY),
        ]
    )

    assert scope(seen) == SCOPE | {
        "ListDataBuckets": {f"{s3}tokenizers"},
        "ListDataPrefix0": {f"{s3}data"},
        "ReadData": {f"{s3}tokenizers/*", f"{s3}data/sets/c4/*"},
        "DecryptData": {KEY},
    }
    assert seen.statement("ReadData")["Action"] == "s3:GetObject"
    assert seen.statement("ListDataPrefix0")["Condition"] == {
        "StringLike": {"s3:prefix": ["sets/c4", "sets/c4/*"]}
    }
    through = seen.statement("DecryptData")["Condition"]["StringLike"]["kms:ViaService"]
    assert seen.text(through) == "s3.*.<AWS::URLSuffix>"


@pytest.mark.parametrize(
    ("buckets", "place"),
    [
        ([{"name": "s3://data"}], r"data_buckets\[0\]\S*name"),
        ([{"name": "data", "prefix": "/a"}], r"data_buckets\[0\] \(data\).prefix"),
        ([{"name": "data", "prefix": "a/*"}], r"data_buckets\[0\] \(data\).prefix"),
        ([{"name": "data"}, {"name": "data"}], r"data_buckets\[1\] \(data\).name"),
    ],
)
def test_what_is_no_bucket_or_prefix_is_refused(
    buckets: list[dict[str, Any]], place: str, snapshot: SnapshotAssertion
) -> None:
    values: dict[str, Any] = {"instance_groups": [CPU], "data_buckets": buckets}
    with pytest.raises(ConfigError, match=rf"ClusterConfig\.{place}: ") as refused:
        ClusterConfig(name="ml", **values)

    assert refused.value.lines == snapshot


def test_more_buckets_than_a_policy_holds_are_refused(make: Make, raises: Raises) -> None:
    buckets = [DataBucketConfig(name=f"{'data' * 15}{number:03}") for number in range(100)]
    with raises(TooLargeError):
        make(data_buckets=buckets)


ROLE = "arn:aws:iam::111122223333:role/team/Nodes"


def test_the_role_is_passed_on_and_not_changed(
    configure: Configure, synthesize: Synthesize
) -> None:
    found = synthesize(configure({"cluster": {"execution_role_arn": ROLE}}))

    found["ml-platform"].has_output("SageMakerIAMRoleArn", {"Value": ROLE})
    policies = found["ml-platform"].find_resources("AWS::IAM::Policy").values()
    assert not any("ManageNetworkInterfaces" in str(policy) for policy in policies)
    (cluster,) = found["ml-hyperpod"].find_resources("Custom::HyperPodCluster").values()
    assert str(cluster["Properties"]["Request"]).count(ROLE) == len(
        configure({}).cluster.instance_groups
    )
    (passed,) = [
        statement
        for policy in found["ml-hyperpod"].find_resources("AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Sid"] == "PassExecutionRole"
    ]
    assert passed["Resource"] == ROLE


@pytest.mark.parametrize(
    ("cluster", "place"),
    [
        (
            {"execution_role_arn": ROLE, "execution_role_name": "Nodes"},
            "cluster.execution_role_name",
        ),
        ({"execution_role_arn": "Nodes"}, "cluster.execution_role_arn"),
        ({"execution_role_name": "team/Nodes"}, "cluster.execution_role_name"),
        ({"execution_role_name": "x" * 65}, "cluster.execution_role_name"),
    ],
)
def test_what_does_not_go_together_is_told(
    cluster: dict[str, Any], place: str, snapshot: SnapshotAssertion
) -> None:
    document = default_document()
    (found,) = lines_for({**document, "cluster": {**document["cluster"], **cluster}})
    assert place in found.partition(": ")[0]
    assert found == snapshot


def arns_by_sid(found: TemplateView) -> dict[str, list[str]]:
    return {
        statement["Sid"]: [found.text(arn) for arn in listed(statement["Resource"])]
        for _, statement in found.statements()
    }


@pytest.mark.parametrize(
    ("keys", "more"),
    [
        pytest.param([], {}, id="no-key"),
        pytest.param([KEY], {"GrantVolumeKeys": [KEY], "DescribeVolumeKeys": [KEY]}, id="key"),
    ],
)
def test_it_adds_and_removes_nodes_and_uses_their_keys(
    stack: cdk.Stack, view: View, keys: list[str], more: dict[str, list[str]]
) -> None:
    AutoScalingRole(stack, "AutoScalingRole", volume_key_ids=keys)

    found = view()

    assert arns_by_sid(found) == {
        "ScaleClusters": ["arn:aws:sagemaker:us-west-2:<AWS::AccountId>:cluster/*"],
        **more,
    }
    assert found.statement("ScaleClusters")["Action"] == [
        "sagemaker:BatchAddClusterNodes",
        "sagemaker:BatchDeleteClusterNodes",
    ]
