"""The log group of an EKS control plane: EKS makes it if it is not there, and never deletes it."""

from typing import Any

import pytest

from emulator.aws.local_aws import LocalAws
from tests.support.local_aws import (
    StackFailedError,
    Template,
    client,
    delete,
    deploy,
    eks_cluster,
    network,
    role,
)


def logging_cluster(name: str) -> Template:
    cluster = eks_cluster()
    cluster["Properties"] |= {
        "Name": name,
        "Logging": {"ClusterLogging": {"EnabledTypes": [{"Type": "audit"}]}},
    }
    return {**network(), "ClusterRole": role("eks.amazonaws.com"), "Cluster": cluster}


def own_group(name: str) -> Template:
    return {
        "Type": "AWS::Logs::LogGroup",
        "Properties": {"LogGroupName": f"/aws/eks/{name}/cluster", "RetentionInDays": 90},
    }


def groups(aws: LocalAws, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client(aws, "logs").describe_log_groups(
        logGroupNamePrefix=f"/aws/eks/{name}/"
    )["logGroups"]
    return found


def test_a_group_that_eks_makes_never_expires_and_stays(aws: LocalAws) -> None:
    stack = deploy(aws, logging_cluster("left"), {})
    (group,) = groups(aws, "left")
    assert "retentionInDays" not in group

    delete(aws, stack)

    assert len(groups(aws, "left")) == 1
    with pytest.raises(StackFailedError, match="'/aws/eks/left/cluster' already exists"):
        deploy(aws, {"Group": own_group("left")}, {})


def test_a_group_made_before_the_cluster_goes_with_it(aws: LocalAws) -> None:
    template = logging_cluster("clean")
    template["Logs"] = own_group("clean")
    template["Cluster"]["DependsOn"] = "Logs"
    stack = deploy(aws, template, {})
    (group,) = groups(aws, "clean")
    assert group["retentionInDays"] == 90

    delete(aws, stack)

    assert groups(aws, "clean") == []


def test_a_cluster_without_logs_has_no_group(aws: LocalAws) -> None:
    template = logging_cluster("quiet")
    del template["Cluster"]["Properties"]["Logging"]
    deploy(aws, template, {})

    assert groups(aws, "quiet") == []
