"""An EKS cluster with deletion protection is deleted only once that is lifted."""

import pytest
from botocore.exceptions import ClientError

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


def template(name: str) -> Template:
    cluster = eks_cluster()
    cluster["Properties"] |= {"Name": name, "DeletionProtection": True}
    return {**network(), "ClusterRole": role("eks.amazonaws.com"), "Cluster": cluster}


def test_a_protected_cluster_stays_until_it_is_lifted(aws: LocalAws) -> None:
    eks = client(aws, "eks")
    stack = deploy(aws, template("kept"), {})
    with pytest.raises(ClientError, match="InvalidRequestException"):
        eks.delete_cluster(name="kept")
    with pytest.raises(StackFailedError, match="DELETE_FAILED"):
        delete(aws, stack)
    assert "kept" in eks.list_clusters()["clusters"]

    eks.update_cluster_config(name="kept", deletionProtection=False)
    delete(aws, stack)

    assert "kept" not in eks.list_clusters()["clusters"]


def test_an_update_of_the_stack_lifts_it(aws: LocalAws) -> None:
    wanted = template("lifted")
    stack = deploy(aws, wanted, {})
    assert client(aws, "eks").describe_cluster(name="lifted")["cluster"]["deletionProtection"]

    wanted["Cluster"]["Properties"]["DeletionProtection"] = False
    deploy(aws, wanted, {}, stack=stack.name)
    delete(aws, stack)

    assert "lifted" not in client(aws, "eks").list_clusters()["clusters"]
