"""Rules on the operators, and what they run on."""

from typing import Any

from hyperpod_cdk.checks.eks.operator_needs import operator_needs
from hyperpod_cdk.checks.eks.operator_nodes import operator_nodes
from hyperpod_cdk.checks.eks.system_pods import system_pods
from tests.support.configs import INFERENCE
from tests.support.rule_cases import ERROR, GPU, TAINT, UNDESCRIBED, WARNING, Cases, config, group

_METRICS: dict[str, Any] = {"operators": {"metrics_server": True}}
_ALL: dict[str, Any] = {
    "operators": {"cert_manager": True, "training_operator": True, "metrics_server": True}
}
_SPACES = {"cert_manager": True, "ebs_csi_driver": True, "spaces": True}
_TWO_ZONES: dict[str, Any] = {
    "hyperpod_subnets": [{"cidr": "10.1.0.0/16"}, {"cidr": "10.2.0.0/16"}]
}
_PROVIDER = (
    "arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/"
    "0123456789ABCDEF0123456789ABCDEF"
)
_TRAINING_ALONE: dict[str, Any] = {"operators": {"training_operator": True}}
_EXISTING: dict[str, Any] = {
    "eks": {"cluster_arn": "arn:aws:eks:us-west-2:111122223333:cluster/shared"},
    "network": {
        "vpc_id": "vpc-1234567890abcdef0",
        "security_group_id": "sg-1234567890abcdef0",
        "hyperpod_subnets": [
            {"subnet_id": "subnet-1234567890abcdef0", "availability_zone_id": "usw2-az1"}
        ],
    },
}
_GROUPS, _LARGE = "cluster.instance_groups", "ml.m5.4xlarge"

CASES: Cases = {}
CASES[operator_needs] = {
    "off": config(tags={"SageMaker": "no"}, **_METRICS),
    "a training operator": config(tags={"SageMaker": "true"}, **_ALL),
    "beside an existing one's": config(**_EXISTING, **_TRAINING_ALONE),
    "an agent for node groups without any": (
        config(operators={"node_monitoring_agent": True}),
        (ERROR, "operators.node_monitoring_agent"),
    ),
    "an agent for node groups": config(
        operators={"node_monitoring_agent": True},
        node_groups=[{"name": "g", "instance_types": ["g5.2xlarge"], "desired_size": 1}],
    ),
    "an agent for node groups that the deployment does not make": config(
        **_EXISTING, operators={"node_monitoring_agent": True}
    ),
    "a training operator without cert-manager": (
        config(**_TRAINING_ALONE),
        (ERROR, "operators.cert_manager"),
    ),
    "a training operator with the tag of another value": (
        config(tags={"SageMaker": "no"}, **_ALL),
        (ERROR, "tags.SageMaker"),
    ),
    "Spaces with all they need": config(operators=_SPACES),
    "Spaces beside others": config(**_EXISTING, operators={"spaces": True}),
    "Spaces alone": (
        config(operators={"spaces": True}),
        (ERROR, "operators.cert_manager"),
        (ERROR, "operators.ebs_csi_driver"),
    ),
    "Spaces in a closed network": (
        config(network={"closed": True}, eks={"endpoint_access": "private"}, operators=_SPACES),
        (WARNING, "operators.spaces"),
    ),
    "an inference operator with all it needs": config(network=_TWO_ZONES, operators=INFERENCE),
    "an inference operator alone, in one zone": (
        config(operators={"inference_operator": True}),
        (ERROR, "operators.cert_manager"),
        (ERROR, "operators.metrics_server"),
        (ERROR, "operators.s3_csi_driver"),
        (WARNING, "network.hyperpod_subnets"),
    ),
    "an inference operator in a closed network": (
        config(
            network={**_TWO_ZONES, "closed": True},
            eks={"endpoint_access": "private"},
            operators=INFERENCE,
        ),
        (ERROR, "operators.inference_operator"),
    ),
    "an inference operator on Graviton alone": (
        config(group("ml.c7g.4xlarge"), network=_TWO_ZONES, operators=INFERENCE),
        (ERROR, _GROUPS),
    ),
    "an inference operator on an existing cluster": config(
        **{**_EXISTING, "eks": {**_EXISTING["eks"], "oidc_provider_arn": _PROVIDER}},
        operators={"inference_operator": True},
    ),
    "an inference operator on an existing cluster without its OIDC provider": (
        config(**_EXISTING, operators={"inference_operator": True}),
        (ERROR, "eks.oidc_provider_arn"),
    ),
}
CASES[operator_nodes] = {
    "off": config(group(instance_count=0)),
    "one large node": config(group(), group(_LARGE, index=1), **_ALL),
    "an undescribed type": config(group(UNDESCRIBED), **_ALL),
    "no node until one is needed": config(
        group(instance_count=0), of_cluster={"auto_scaling": "Karpenter"}, **_ALL
    ),
    "no node": (
        config(group(instance_count=0), group(GPU, index=1, instance_count=0), **_METRICS),
        (ERROR, _GROUPS),
    ),
    "small nodes alone": (
        config(group(), group(_LARGE, index=1, instance_count=0), **_ALL),
        (WARNING, _GROUPS),
    ),
    "a deployment that does not wait for nodes": (
        config(group(_LARGE), of_cluster={"wait_for": "in_service"}, **_METRICS),
        (WARNING, "cluster.wait_for"),
    ),
}
CASES[system_pods] = {
    "operators and taints everywhere": (
        config(group(_LARGE, taints=[TAINT]), **_ALL),
        (ERROR, _GROUPS),
    ),
    "too little room for the operators": (
        config(group("ml.t3.medium", instance_count=6), **_ALL),
        (WARNING, _GROUPS),
    ),
}
