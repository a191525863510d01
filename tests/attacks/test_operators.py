"""The add-ons reach nothing of other deployments in the account."""

import pytest

from hyperpod_cdk import load_config
from hyperpod_shared.owner import STACK_TAG
from tests.attacks.conftest import ActAs
from tests.support.configs import CONFIG_FOLDER, configured

CONFIG = load_config(CONFIG_FOLDER / "examples" / "inference.yaml")
BALANCING = "arn:aws:elasticloadbalancing:us-west-2:111122223333"
LISTENER = f"{BALANCING}:listener/app/a/0123456789abcdef/0123456789abcdef"
TARGETS = f"{BALANCING}:targetgroup/a/0123456789abcdef"
OWNER = "elbv2.k8s.aws/cluster"
CONTROLLER = "OperatorsInferenceLoadBalancers"
STACK = "arn:aws:cloudformation:us-west-2:111122223333:stack"
CLUSTER = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl"


def test_the_load_balancer_controller_changes_its_own_alone(act_as: ActAs) -> None:
    controller = act_as(CONFIG, CONTROLLER)
    verbs = {LISTENER: ("DeleteListener", "ModifyListener", "CreateRule")}
    verbs[TARGETS] = ("RegisterTargets", "DeregisterTargets", "DeleteTargetGroup")

    for resource, names in verbs.items():
        for name in names:
            action = f"elasticloadbalancing:{name}"
            assert [
                controller.decision(action, resource, tag=f"{OWNER}={CONFIG.eks_cluster_name}"),
                controller.decision(action, resource, tag=f"{OWNER}=another"),
                controller.decision(action, resource),
            ] == ["allowed", "implicitDeny", "implicitDeny"]


def test_the_load_balancer_controller_takes_no_listener_over(act_as: ActAs) -> None:
    controller = act_as(CONFIG, CONTROLLER)
    action, own = "elasticloadbalancing:AddTags", f"{OWNER}={CONFIG.eks_cluster_name}"
    making = "elasticloadbalancing:CreateAction=CreateListener"

    made = controller.decision(action, LISTENER, making, asked=own)
    taken = controller.decision(action, LISTENER, asked=own)

    assert (made, taken) == ("allowed", "implicitDeny")


@pytest.mark.parametrize(
    ("stack", "decision"), [("ml-hyperpod", "allowed"), ("other-hyperpod", "implicitDeny")]
)
def test_volumes_are_attached_to_nodes_of_the_own_cluster(
    act_as: ActAs, stack: str, decision: str
) -> None:
    driver = act_as(configured({"operators": {"ebs_csi_driver": True}}), "OperatorsVolumesRole")
    tag = f"{STACK_TAG}={STACK}/{stack}/1"

    assert driver.decision("sagemaker:AttachClusterNodeVolume", CLUSTER, tag=tag) == decision
