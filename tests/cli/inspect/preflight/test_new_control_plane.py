"""A control plane that a deployment makes, as a former one left it, on a local AWS."""

import json
from collections.abc import Callable

import pytest
from botocore.exceptions import ClientError

from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_cli.inspect.preflight.validators.failed_creation import failed_creation
from hyperpod_cli.inspect.preflight.validators.left_out_properties import left_out_properties
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


def test_a_protected_cluster_of_a_failed_creation(configure: Configure, target: Target) -> None:
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
    assert list(failed_creation(config, target)) == []
    stack_id = stacks.describe_stacks(StackName=STACK)["Stacks"][0]["StackId"]
    stacks.delete_stack(StackName=STACK)
    assert settled(stacks, stack_id)["StackStatus"] == "DELETE_COMPLETE"


@pytest.mark.parametrize(
    ("former", "eks", "said"),
    [
        ({}, {}, None),
        (
            {"PublicAccessCidrs": ["203.0.113.0/24"]},
            {"public_access_cidrs": ["198.51.100.0/24"]},
            None,
        ),
        (
            {"PublicAccessCidrs": ["203.0.113.0/24"]},
            {"public_access_cidrs": ["203.0.113.0/24"], "endpoint_access": "private"},
            None,
        ),
        (
            {"PublicAccessCidrs": ["203.0.113.0/24"]},
            {},
            "eks.public_access_cidrs: ['0.0.0.0/0'] takes the list out of the template of "
            "ml-platform, which CloudFormation refuses; write [0.0.0.0/0, 203.0.113.0/24], which",
        ),
        (
            {"PublicAccessCidrs": []},
            {"endpoint_access": "private"},
            "eks.public_access_cidrs: ['0.0.0.0/0'] takes the list out of the template of "
            "ml-platform, which CloudFormation refuses; write [0.0.0.0/0, 192.0.2.0/24], which",
        ),
        ({"DeletionProtection": True}, {"deletion_protection": False}, None),
        (
            {"DeletionProtection": True},
            {},
            "eks.deletion_protection: null is left out, which CloudFormation may refuse after "
            "ml-platform had it; write false",
        ),
    ],
)
def test_properties_that_a_template_leaves_out(
    configure: Configure, former: Template, eks: dict[str, object], said: str | None
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
    found = [str(each.finding) for each in left_out_properties(configure({"eks": eks}), there)]
    assert [line[: len(str(said))] for line in found] == ([] if said is None else [said])


@pytest.mark.parametrize("name", ["PublicAccessCidrs", "DeletionProtection"])
def test_cloudformation_refuses_a_template_without_a_property_that_was_there(
    target: Target, name: str
) -> None:
    stacks, stack = target.client("cloudformation"), f"dropped-{name}"
    cluster = eks_cluster()
    of = cluster["Properties"] if name == "DeletionProtection" else _vpc_config(cluster)
    template = {"Resources": {**network(), "ClusterRole": role("eks.amazonaws.com")}}
    template["Resources"]["Cluster"] = cluster

    def deployed(call: Callable[..., object]) -> str:
        call(
            StackName=stack,
            TemplateBody=json.dumps(template),
            Capabilities=["CAPABILITY_NAMED_IAM"],
        )
        return str(settled(stacks, stack)["StackStatus"])

    of[name] = ["203.0.113.0/24"] if name == "PublicAccessCidrs" else True
    assert deployed(stacks.create_stack) == "CREATE_COMPLETE"
    former = of.pop(name)
    assert deployed(stacks.update_stack) == "UPDATE_ROLLBACK_COMPLETE"
    said = [
        each.get("ResourceStatusReason", "")
        for each in stacks.describe_stack_events(StackName=stack)["StackEvents"]
    ]
    assert any(f'property "{name}" missing' in each for each in said)
    of[name] = ["0.0.0.0/0", *former] if name == "PublicAccessCidrs" else False
    assert deployed(stacks.update_stack) == "UPDATE_COMPLETE"


def _vpc_config(cluster: Template) -> Template:
    found: Template = cluster["Properties"]["ResourcesVpcConfig"]
    return found
