"""A stack whose deletion fails keeps what the undeleted resource needs; the next try goes on."""

import pytest

from emulator.aws.local_aws import LocalAws
from tests.support.local_aws import (
    StackFailedError,
    client,
    delete,
    deploy,
    eks_cluster,
    network,
    resource,
    role,
)


def test_what_an_undeleted_resource_depends_on_stays(aws: LocalAws) -> None:
    cluster = eks_cluster()
    cluster["Properties"] |= {"Name": "undeleted", "DeletionProtection": True}
    parameter = resource("AWS::SSM::Parameter", Type="String", Value="a")
    needed = {"ClusterRole": role("eks.amazonaws.com"), "Cluster": cluster}
    others = {"Apart": parameter, "After": {**parameter, "DependsOn": "Cluster"}}
    stack = deploy(aws, {**network(), **needed, **others}, {})

    with pytest.raises(StackFailedError, match="DELETE_FAILED"):
        delete(aws, stack)
    cloudformation = client(aws, "cloudformation")
    resources = cloudformation.describe_stack_resources(StackName=stack.name)["StackResources"]
    left = {item["LogicalResourceId"]: item["ResourceStatus"] for item in resources}
    assert left["Cluster"] == "DELETE_FAILED"
    assert left["ClusterRole"] == left["Vpc"] == "CREATE_COMPLETE"
    assert not left.keys() & others.keys()

    client(aws, "eks").update_cluster_config(name="undeleted", deletionProtection=False)
    delete(aws, stack)
    assert "undeleted" not in client(aws, "eks").list_clusters()["clusters"]
