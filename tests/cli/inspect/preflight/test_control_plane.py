"""What is looked at of the control plane, one that exists and a new one."""

import json
from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import pytest
from botocore.exceptions import ClientError
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config, load_config
from hyperpod_cdk.schema.errors import Severity
from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_cli.inspect.preflight.validators.eks.existing_control_plane import (
    existing_control_plane,
)
from hyperpod_cli.inspect.preflight.validators.eks.failed_creation import failed_creation
from hyperpod_cli.inspect.preflight.validators.eks.left_out_properties import left_out_properties
from hyperpod_cli.inspect.preflight.validators.orchestrator import orchestrator
from hyperpod_cli.inspect.preflight.validators.slurm.failed_database import failed_database
from hyperpod_emulator.hyperpod import HyperPodService
from hyperpod_emulator.hyperpod.server import HyperPodApi
from hyperpod_emulator.testing.hyperpod_api import FakeClock
from hyperpod_emulator.testing.stacks import (
    Template,
    database,
    eks_cluster,
    network,
    resource,
    role,
    settled,
)
from hyperpod_rehearsal.existing_resources import existing_resources
from tests.cli.inspect.preflight.conftest import ACCOUNT, REGION, with_methods
from tests.support.configs import CONFIG_FOLDER, CONTROLLER, configure, configured


@pytest.fixture(scope="module")
def hyperpod() -> Iterator[HyperPodApi]:
    with HyperPodApi(service=HyperPodService(clock=FakeClock())) as api:
        yield api


@pytest.fixture(scope="module")
def config(target: Target) -> Config:
    """The example whose EKS cluster there is."""
    loaded = load_config(CONFIG_FOLDER / "examples" / "existing-eks.yaml")
    for each in existing_resources(loaded):
        if str(each).startswith(("EKS cluster", "VPC")):
            each.make(target.client)
    return loaded


def changed(config: Config, section: str, **values: Any) -> Config:
    """Return a configuration with other values in a section."""
    other = getattr(config, section).model_copy(update=values)
    return config.model_copy(update={section: other})


def lines(config: Config, target: Target) -> list[str]:
    return [str(finding) for finding, _ in existing_control_plane(config, target)]


@pytest.mark.parametrize(
    ("section", "values"),
    [
        ("eks", {"cluster_arn": "arn:aws:eks:us-west-2:444455556666:cluster/research"}),
        ("eks", {"version": "1.34"}),
        ("eks", {"endpoint_access": "private"}),
        ("eks", {"public_access_cidrs": ("192.0.2.0/24",)}),
        ("network", {"security_group_id": "sg-0123456789abcdef0"}),
    ],
)
def test_what_is_otherwise_is_told_with_what_to_write(
    config: Config,
    target: Target,
    section: str,
    values: dict[str, Any],
    snapshot: SnapshotAssertion,
) -> None:
    (line,) = lines(changed(config, section, **values), target)
    # The local EKS draws the name of the cluster's own group.
    assert line.partition(", sg-")[0] == snapshot


def test_another_version_replaces_the_nodes_of_node_groups(
    config: Config, target: Target, snapshot: SnapshotAssertion
) -> None:
    group, *_ = load_config(CONFIG_FOLDER / "examples" / "node-groups.yaml").node_groups
    with_nodes = config.model_copy(update={"node_groups": (group,)})
    assert lines(changed(with_nodes, "eks", version="1.34"), target) == snapshot


def test_missing_addons_are_a_warning(
    config: Config, target: Target, snapshot: SnapshotAssertion
) -> None:
    (problem,) = existing_control_plane(changed(config, "eks", addons=()), target)
    assert problem[0].severity is Severity.WARNING
    assert (str(problem[0]), problem[1]) == snapshot


def test_a_principal_has_one_access_entry(
    config: Config, target: Target, snapshot: SnapshotAssertion
) -> None:
    admin, other = (f"arn:aws:iam::111122223333:role/{name}" for name in ("Owner", "Other"))
    listed = changed(config, "eks", admins=(other, admin))

    eks = target.client("eks")

    def described(*, name: str) -> object:
        found = eks.describe_cluster(name=name)["cluster"]
        return {"cluster": {**found, "accessConfig": {"authenticationMode": "API"}}}

    def paginator(name: str) -> Any:  # noqa: ANN401 - any operation's
        if name == "list_access_entries":
            pages = [{"accessEntries": []}, {"accessEntries": [admin]}]
            return Mock(paginate=lambda **_: pages)
        return eks.get_paginator(name)

    modern = with_methods(target, "eks", describe_cluster=described, get_paginator=paginator)
    assert lines(listed, modern) == snapshot
    # Under CONFIG_MAP, as it is, EKS lists none.
    assert lines(listed, target) == []


def test_a_version_that_hyperpod_does_not_know(
    config: Config, target: Target, snapshot: SnapshotAssertion
) -> None:
    def described(*, name: str) -> object:
        found = target.client("eks").describe_cluster(name=name)["cluster"]
        return {"cluster": {**found, "version": "1.29"}}

    old = with_methods(target, "eks", describe_cluster=described)
    assert lines(config, old) == snapshot


STACK, CLUSTER = "ml-platform", "ml-eks"
PROTECTED = {"eks": {"deletion_protection": True}}


def failing() -> Template:
    """Return the resources of a platform whose creation fails once the control plane is there."""
    cluster = eks_cluster()
    cluster["Properties"] |= {"Name": CLUSTER, "DeletionProtection": True}
    nothing = resource("AWS::EKS::Addon", ClusterName={"Ref": "Cluster"}, AddonName="nothing")
    return {
        **network(),
        "ClusterRole": role("eks.amazonaws.com"),
        "Cluster": cluster,
        "Bad": nothing,
    }


def test_a_protected_cluster_of_a_failed_creation(
    target: Target, snapshot: SnapshotAssertion
) -> None:
    config = configure(PROTECTED)
    assert list(failed_creation(config, target)) == []
    stacks, eks = target.client("cloudformation"), target.client("eks")
    stacks.create_stack(
        StackName=STACK,
        TemplateBody=json.dumps({"Resources": failing()}),
        Capabilities=["CAPABILITY_NAMED_IAM"],
    )
    assert settled(stacks, STACK)["StackStatus"] == "ROLLBACK_FAILED"

    (problem,) = failed_creation(config, target)
    assert str(problem[0]) == snapshot
    # What it keeps from happening: a deployment deletes the stack first.
    with pytest.raises(ClientError, match="InvalidRequestException"):
        eks.delete_cluster(name=CLUSTER)
    stacks.delete_stack(StackName=STACK)
    assert settled(stacks, STACK)["StackStatus"] == "DELETE_FAILED"

    eks.update_cluster_config(name=CLUSTER, deletionProtection=False)
    assert list(failed_creation(config, target)) == []
    stack_id = stacks.describe_stacks(StackName=STACK)["Stacks"][0]["StackId"]
    stacks.delete_stack(StackName=STACK)
    assert settled(stacks, stack_id)["StackStatus"] == "DELETE_COMPLETE"


@pytest.mark.parametrize(
    ("former", "eks"),
    [
        ({}, {}),
        ({"PublicAccessCidrs": ["203.0.113.0/24"]}, {"public_access_cidrs": ["198.51.100.0/24"]}),
        (
            {"PublicAccessCidrs": ["203.0.113.0/24"]},
            {"public_access_cidrs": ["203.0.113.0/24"], "endpoint_access": "private"},
        ),
        ({"PublicAccessCidrs": ["203.0.113.0/24"]}, {}),
        ({"PublicAccessCidrs": []}, {"endpoint_access": "private"}),
        ({"DeletionProtection": True}, {"deletion_protection": False}),
        ({"DeletionProtection": True}, {}),
    ],
)
def test_properties_that_a_template_leaves_out(
    former: Template, eks: dict[str, object], snapshot: SnapshotAssertion
) -> None:
    class Stacks:
        def get_template(self, *, StackName: str, TemplateStage: str) -> Template:
            assert (StackName, TemplateStage) == (STACK, "Original")
            protection = former.get("DeletionProtection")
            vpc = {key: value for key, value in former.items() if key != "DeletionProtection"}
            own = {} if protection is None else {"DeletionProtection": protection}
            cluster = resource("AWS::EKS::Cluster", ResourcesVpcConfig=vpc, **own)
            return {"TemplateBody": {"Resources": {"Cluster": cluster}}}

    there = Target(partition="aws", account="", region="us-west-2", client=lambda _name: Stacks())
    found = [str(finding) for finding, _ in left_out_properties(configure({"eks": eks}), there)]
    assert found == snapshot


@pytest.mark.parametrize(
    ("wanted", "parameters", "status", "told"),
    [
        ("eks", {}, "CREATE_COMPLETE", ""),
        ("slurm", {}, "UPDATE_COMPLETE", "is deployed with eks"),
        ("slurm", {}, "ROLLBACK_COMPLETE", ""),
        ("slurm", {"Orchestrator6EF1216F": "slurm"}, "CREATE_COMPLETE", ""),
        ("eks", {"Orchestrator6EF1216F": "slurm"}, "CREATE_COMPLETE", "is deployed with slurm"),
    ],
)
def test_another_orchestrator_than_the_deployed_one_is_told(
    *, wanted: str, parameters: dict[str, str], status: str, told: str
) -> None:
    described = {
        "StackName": "ml-platform",
        "StackStatus": status,
        "Parameters": [
            {"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()
        ],
    }
    cloudformation = Mock()
    cloudformation.describe_stacks.return_value = {"Stacks": [described]}
    config = load_config(CONFIG_FOLDER / f"{'default' if wanted == 'eks' else wanted}.yaml")
    target = Target(
        partition="aws", region=REGION, account=ACCOUNT, client=lambda _: cloudformation
    )

    found = [str(finding) for finding, _ in orchestrator(config, target)]
    assert len(found) == bool(told)
    assert all(told in each and each.startswith("cluster.orchestrator: ") for each in found)


STORAGE = "ml-storage"


def test_a_protected_database_of_a_failed_creation(
    target: Target, snapshot: SnapshotAssertion
) -> None:
    accounted = {"orchestrator": "slurm", "slurm": {"accounting": {}}}
    config = configured({"cluster": {**accounted, "instance_groups": [CONTROLLER]}})
    stacks, rds = target.client("cloudformation"), target.client("rds")
    assert list(failed_database(config, target)) == []
    nowhere = resource(
        "AWS::RDS::DBSubnetGroup", DBSubnetGroupDescription="nowhere", SubnetIds=["subnet-1"]
    )
    resources = {**database(), "Nowhere": {**nowhere, "DependsOn": "Database"}}
    stacks.create_stack(StackName=STORAGE, TemplateBody=json.dumps({"Resources": resources}))
    assert settled(stacks, STORAGE)["StackStatus"] == "ROLLBACK_FAILED"

    [found] = rds.describe_db_instances()["DBInstances"]
    name = found["DBInstanceIdentifier"]
    (problem,) = failed_database(config, target)
    assert str(problem[0]).replace(name, "DATABASE") == snapshot
    # What it keeps from happening: a deployment deletes the stack first.
    with pytest.raises(ClientError, match="DeletionProtection is enabled"):
        rds.delete_db_instance(DBInstanceIdentifier=name, SkipFinalSnapshot=True)

    rds.modify_db_instance(
        DBInstanceIdentifier=name, DeletionProtection=False, ApplyImmediately=True
    )
    assert list(failed_database(config, target)) == []
    rds.delete_db_instance(DBInstanceIdentifier=name, SkipFinalSnapshot=True)
    assert list(failed_database(config, target)) == []
