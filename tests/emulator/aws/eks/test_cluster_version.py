"""Kubernetes versions of the local EKS: one up at a time, one back, and what a rollback leaves."""

from typing import Any, Literal

import pytest
from botocore.exceptions import ClientError

from emulator.aws.local_aws import LocalAws
from emulator.aws.shared_settings import EksUnknowns
from tests.support.local_aws import (
    Stack,
    StackFailedError,
    Template,
    client,
    deploy,
    eks_cluster,
    network,
    resource,
    role,
    settled,
)

PROXIES = {"1.34": "v1.34.6-eksbuild.2", "1.35": "v1.35.3-eksbuild.2"}
OUTPUTS = {"Name": {"Ref": "Cluster"}}


def template(version: str, **more: Any) -> Template:
    cluster = eks_cluster()
    cluster["Properties"]["Version"] = version
    return {
        **network(),
        "ClusterRole": role("eks.amazonaws.com"),
        "Cluster": cluster,
        "KubeProxy": resource(
            "AWS::EKS::Addon",
            ClusterName={"Ref": "Cluster"},
            AddonName="kube-proxy",
            AddonVersion=PROXIES.get(version, "v1.33.10-eksbuild.2"),
        ),
        **more,
    }


def version_of(aws: LocalAws, stack: Stack) -> str:
    eks = client(aws, "eks")
    return str(eks.describe_cluster(name=stack.outputs["Name"])["cluster"]["version"])


@pytest.mark.parametrize(
    ("version", "wanted", "said"),
    [
        ("1.33", "1.35", "Unsupported Kubernetes minor version update from 1.33 to 1.35"),
        ("1.34", "1.33", "Unsupported Kubernetes minor version update from 1.34 to 1.33"),
    ],
)
def test_other_steps_than_one_up_are_refused(
    aws: LocalAws, version: str, wanted: str, said: str
) -> None:
    stack = deploy(aws, template(version), OUTPUTS)

    with pytest.raises(StackFailedError, match=said):
        deploy(aws, template(wanted), OUTPUTS, stack=stack.name)
    assert version_of(aws, stack) == version
    with pytest.raises(ClientError, match=said):
        client(aws, "eks").update_cluster_version(name=stack.outputs["Name"], version=wanted)


@pytest.mark.parametrize("older_in_a_rollback", ["kept", "refused"])
def test_the_rollback_of_an_upgrade_keeps_the_version_and_may_be_skipped(
    aws: LocalAws, older_in_a_rollback: Literal["kept", "refused"]
) -> None:
    stack = deploy(aws, template("1.34"), OUTPUTS)
    cloudformation = client(aws, "cloudformation")
    EksUnknowns(older_in_a_rollback=older_in_a_rollback).write(aws.directory)
    broken = resource("AWS::EKS::AccessEntry", ClusterName={"Ref": "Cluster"}, PrincipalArn="x")
    try:
        with pytest.raises(StackFailedError, match="Addon version specified is not supported"):
            deploy(
                aws,
                template("1.35", Broken=broken | {"DependsOn": ["KubeProxy"]}),
                OUTPUTS,
                stack=stack.name,
            )
    finally:
        EksUnknowns().write(aws.directory)
    assert version_of(aws, stack) == "1.35"
    assert settled(cloudformation, stack.name)["StackStatus"] == "UPDATE_ROLLBACK_FAILED"

    found = cloudformation.describe_stack_resources(StackName=stack.name)["StackResources"]
    skipped = [each["LogicalResourceId"] for each in found if "FAILED" in each["ResourceStatus"]]
    refused = ["Cluster"] if older_in_a_rollback == "refused" else []
    assert skipped == [*refused, "KubeProxy"]
    cloudformation.continue_update_rollback(StackName=stack.name, ResourcesToSkip=skipped)
    assert settled(cloudformation, stack.name)["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    deploy(aws, template("1.35"), OUTPUTS, stack=stack.name)


def test_eks_goes_back_once_if_the_addons_fit_or_by_force(aws: LocalAws) -> None:
    stack = deploy(aws, template("1.34"), OUTPUTS)
    eks, name = client(aws, "eks"), stack.outputs["Name"]
    deploy(aws, template("1.35"), OUTPUTS, stack=stack.name)

    unfit = r"InvalidStateException.*kube-proxy v1.35.3-eksbuild.2 not compatible with 1"
    with pytest.raises(ClientError, match=unfit):
        eks.update_cluster_version(name=name, version="1.34")
    update = eks.update_cluster_version(name=name, version="1.34", force=True)["update"]
    assert (update["type"], version_of(aws, stack)) == ("VersionRollback", "1.34")
    asked = {"name": name, "updateId": update["id"]}
    statuses = [eks.describe_update(**asked)["update"]["status"] for _ in range(3)]
    assert statuses == ["InProgress", "Successful", "Successful"]
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        eks.describe_update(name=name, updateId="0")
    with pytest.raises(ClientError, match=r"from 1.34 to 1.33"):
        eks.update_cluster_version(name=name, version="1.33", force=True)

    EksUnknowns(same="refused").write(aws.directory)
    with pytest.raises(StackFailedError, match=r"version update from 1.34 to 1.34"):
        deploy(aws, template("1.34"), OUTPUTS, stack=stack.name)
    EksUnknowns().write(aws.directory)
