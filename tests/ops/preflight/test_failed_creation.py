"""A control plane that the rollback of a failed creation left, on a local AWS."""

import json

import pytest
from botocore.exceptions import ClientError

from hyperpod_ops.preflight.control_plane.failed_creation import failed_creation
from hyperpod_ops.preflight.validator import Place
from tests.conftest import Configure
from tests.support.local_aws import Template, eks_cluster, network, resource, role, settled

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


def test_a_protected_cluster_of_a_failed_creation(configure: Configure, place: Place) -> None:
    config = configure(PROTECTED)
    assert list(failed_creation(config, place)) == []
    stacks, eks = place.client("cloudformation"), place.client("eks")
    stacks.create_stack(
        StackName=STACK,
        TemplateBody=json.dumps({"Resources": failing()}),
        Capabilities=["CAPABILITY_NAMED_IAM"],
    )
    assert settled(stacks, STACK)["StackStatus"] == "ROLLBACK_FAILED"

    (problem,) = failed_creation(config, place)
    assert str(problem.finding) == (
        f"eks.deletion_protection: true protects {CLUSTER}, which the rollback of {STACK} could "
        "not delete (ROLLBACK_FAILED); a deployment deletes the stack first, and fails so again. "
        "Nothing has used it; run: aws eks update-cluster-config --no-deletion-protection --name "
        f"{CLUSTER} --region us-west-2 && aws eks wait cluster-active --name {CLUSTER} --region "
        "us-west-2"
    )
    # What it keeps from happening: a deployment deletes the stack first.
    with pytest.raises(ClientError, match="InvalidRequestException"):
        eks.delete_cluster(name=CLUSTER)
    stacks.delete_stack(StackName=STACK)
    assert settled(stacks, STACK)["StackStatus"] == "DELETE_FAILED"

    eks.update_cluster_config(name=CLUSTER, deletionProtection=False)
    assert list(failed_creation(config, place)) == []
    stack_id = stacks.describe_stacks(StackName=STACK)["Stacks"][0]["StackId"]
    stacks.delete_stack(StackName=STACK)
    assert settled(stacks, stack_id)["StackStatus"] == "DELETE_COMPLETE"
