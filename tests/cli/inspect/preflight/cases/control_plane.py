"""Kubernetes versions that EKS refuses, and EKS clusters that do not fit."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from hyperpod_cdk.facts.addon_versions import ADDON_VERSIONS
from hyperpod_cdk.facts.kubernetes_support import END_OF_EXTENDED_SUPPORT
from hyperpod_emulator.hyperpod import Caller
from hyperpod_emulator.testing.hyperpod_api import create_request
from hyperpod_rehearsal.existing_resources.networks import ExistingNetwork
from hyperpod_shared.governance import ADDON
from tests.support.assembly import merged
from tests.support.configs import INFERENCE, MINIMUM
from tests.support.failure import CONTROL_PLANE, Failure, Step, creating, everything
from tests.support.partial_deployment import ACCOUNT_IN_FILES, Deployment, example

# The names of buckets are everybody's.
_RESEARCH: Mapping[str, Any] = merged(
    example("existing-eks"),
    {"lifecycle_scripts": {"existing_bucket_name": f"research-{ACCOUNT_IN_FILES}"}},
)
_CLUSTER = f"arn:aws:eks:us-west-2:{ACCOUNT_IN_FILES}:cluster"
_OTHER_PROVIDER = (
    f"arn:aws:iam::{ACCOUNT_IN_FILES}:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/{'F' * 32}"
)
_ADMIN = f"arn:aws:iam::{ACCOUNT_IN_FILES}:role/Admin"
_PIN = "v0.1.0-eksbuild.1"
_OF_1_34 = merged(MINIMUM, {"eks": {"version": "1.34"}})


def _with_version(version: str) -> Step:
    return lambda deployment: deployment.changed({"eks": {"version": version}}).create(
        "platform", "AWS::EKS::Cluster"
    )


def _with_addresses(deployment: Deployment) -> None:
    there = deployment.changed({"eks": {"public_access_cidrs": ["192.0.2.0/24"]}})
    there.create("platform", "AWS::EKS::Cluster")


def _with_protection(deployment: Deployment) -> None:
    protected = deployment.changed({"eks": {"deletion_protection": True}})
    protected.create("platform", "AWS::EKS::Cluster")


def _with_wrong_pin(deployment: Deployment) -> None:
    deployment.patch.setitem(ADDON_VERSIONS[deployment.config.eks.version], "vpc-cni", _PIN)


def _with_support_ending_soon(deployment: Deployment) -> None:
    soon = datetime.now(tz=UTC).date() + timedelta(days=30)
    deployment.patch.setitem(END_OF_EXTENDED_SUPPORT, deployment.config.eks.version, soon)


def _there(**changes: Any) -> Step:
    """Return what makes all that the example names, with other values."""
    return lambda deployment: everything(deployment.of(merged(_RESEARCH, changes)))


def _with_admin(deployment: Deployment) -> None:
    """Have the cluster know access entries, and one of them."""
    _there(eks={"set_authentication_mode": False, "admins": [_ADMIN]})(deployment)
    deployment.client("eks").create_access_entry(
        clusterName="research", principalArn=_ADMIN.replace(ACCOUNT_IN_FILES, deployment.account)
    )


def _of_another_hyperpod_cluster(deployment: Deployment) -> None:
    _there()(deployment)
    config = deployment.config
    request = create_request(
        ClusterName="theirs",
        Orchestrator={"Eks": {"ClusterArn": config.eks.cluster_arn}},
        VpcConfig={
            "SecurityGroupIds": [config.network.security_group_id],
            "Subnets": [config.network.hyperpod_subnets[0].subnet_id],
        },
    )
    caller = Caller(account=deployment.account, region=deployment.region)
    deployment.hyperpod.call("CreateCluster", request, caller)


def _and_another_network(deployment: Deployment) -> None:
    _there()(deployment)
    ExistingNetwork(network=deployment.config.network).make(deployment.client)


def _without_provider(deployment: Deployment) -> None:
    _there()(deployment)
    arn = deployment.config.eks.oidc_provider_arn
    deployment.client("iam").delete_open_id_connect_provider(OpenIDConnectProviderArn=arn)


def _without(addon: str) -> Step:
    def step(deployment: Deployment) -> None:
        everything(deployment)
        name = deployment.config.eks_cluster_name
        deployment.client("eks").delete_addon(clusterName=name, addonName=addon)

    return step


def _existing(name: str, changes: Mapping[str, Any] = {}, **case: Any) -> Failure:
    document = merged(_RESEARCH, changes)
    return Failure(case=f"existing-control-plane: {name}", document=document, **case)


_OPERATORS = {"cert_manager": True, "training_operator": True}
_EKS_OPERATORS: Mapping[str, Any] = merged(MINIMUM, {"operators": _OPERATORS})


def _with_addon(name: str) -> Step:
    """Return what makes the control plane, with an add-on that somebody has installed."""

    def make(deployment: Deployment) -> None:
        deployment.create("platform", "AWS::EKS::Cluster")
        deployment.client("eks").create_addon(clusterName="ml-eks", addonName=name)

    return make


def _inference(name: str, before: Step = everything, **case: Any) -> Failure:
    document = merged(_RESEARCH, {"operators": INFERENCE})
    case = {"document": document, "before": before, **case}
    return Failure(case=f"inference-operator: {name}", **case)


_TEAMS = [{"name": "research", "quota": [{"instance_type": "ml.m5.2xlarge", "nodes": 1}]}]

FAILURES = (
    Failure(
        case="task-governance: task governance that somebody has installed",
        document=merged(_OF_1_34, {"teams": _TEAMS, "governance": {}}),
        before=_with_addon(ADDON),
        deploy=creating("operators", "AWS::EKS::Addon"),
        said="Addon already exists",
    ),
    Failure(
        case="operators: an operator that somebody has installed",
        document=_EKS_OPERATORS,
        before=_with_addon("cert-manager"),
        deploy=creating("operators", "AWS::EKS::Addon"),
        said="Addon already exists",
    ),
    Failure(
        case="operators: CloudWatch's add-on, which somebody has installed",
        document={**MINIMUM, "observability": {"cloudwatch": {}}},
        before=_with_addon("amazon-cloudwatch-observability"),
        deploy=creating("observability", "AWS::EKS::Addon"),
        said="Addon already exists",
    ),
    Failure(
        case="operators: no cert-manager on an existing cluster",
        document=merged(_RESEARCH, {"operators": {"training_operator": True}}),
        before=_without("cert-manager"),
    ),
    Failure(
        case="operators: no driver of EBS on an existing cluster",
        document=merged(_RESEARCH, {"operators": {"cert_manager": True, "spaces": True}}),
        before=_without("aws-ebs-csi-driver"),
    ),
    _inference(
        "the OIDC provider of another cluster",
        document=merged(
            _RESEARCH, {"operators": INFERENCE, "eks": {"oidc_provider_arn": _OTHER_PROVIDER}}
        ),
        before=_there(),
    ),
    _inference("an OIDC provider that IAM does not have", before=_without_provider),
    _inference("a VPC without subnets for load balancers"),
    _inference("a VPC without an endpoint of S3"),
    Failure(
        case="kubernetes-version: two versions up",
        document=_OF_1_34,
        before=_with_version("1.32"),
        deploy=CONTROL_PLANE,
        said="Unsupported Kubernetes minor version update from 1.32 to 1.34",
    ),
    Failure(
        case="kubernetes-version: back",
        document=_OF_1_34,
        before=_with_version("1.35"),
        deploy=CONTROL_PLANE,
        said="Unsupported Kubernetes minor version update from 1.35 to 1.34",
    ),
    Failure(
        case="kubernetes-version: an add-on that is not offered",
        document=merged(MINIMUM, {"tags": {"pin": "wrong"}}),
        before=_with_wrong_pin,
        deploy=creating("platform", "EksVpcCni"),
        said="Addon version specified is not supported",
    ),
    Failure(
        case="left-out-properties: who reaches the endpoint",
        before=_with_addresses,
        deploy=CONTROL_PLANE,
        said="PublicAccessCidrs",
    ),
    Failure(
        case="left-out-properties: the protection of the control plane",
        before=_with_protection,
        deploy=CONTROL_PLANE,
        said='property "DeletionProtection" missing',
    ),
    Failure(
        case="kubernetes-support: has ended",
        document=merged(MINIMUM, {"eks": {"version": "1.30"}}),
        deploy=creating("platform", "AWS::EKS::Cluster"),
        said="unsupported Kubernetes version: 1.30",
    ),
    Failure(
        case="kubernetes-support: ends soon", before=_with_support_ending_soon, deploy=CONTROL_PLANE
    ),
    _existing(
        "none",
        {"eks": {"cluster_arn": f"{_CLUSTER}/none"}},
        before=_there(),
        said="There is no EKS cluster none|cluster/none does not exist",
    ),
    _existing(
        "without access entries",
        {"eks": {"set_authentication_mode": False}},
        before=_there(eks={"set_authentication_mode": True}),
        deploy=creating("platform", "AWS::EKS::AccessEntry"),
        said="authentication mode must be set to one of .API, API_AND_CONFIG_MAP",
    ),
    _existing(
        "in another VPC",
        {
            "network": {
                "vpc_id": "vpc-0c1b2c3d4e5f60719",
                "hyperpod_subnets": [
                    {"subnet_id": "subnet-0c1b2c3d4e5f60009", "availability_zone_id": "usw2-az2"}
                ],
                "security_group_id": "sg-0c1b2c3d4e5f60009",
            }
        },
        before=_and_another_network,
        said="subnet-0c1b2c3d4e5f60009 is not in vpc-0c1b2c3d4e5f60718, the VPC of EKS cluster",
    ),
    _existing(
        "with the add-on already",
        before=_there(eks={"addons": []}),
        deploy=creating("platform", "AWS::EKS::Addon"),
        said="Addon already exists",
    ),
    _existing(
        "that serves another HyperPod cluster",
        before=_of_another_hyperpod_cluster,
        said="is already used by HyperPod cluster 'theirs'",
    ),
    _existing(
        "with the access entry already",
        {"eks": {"set_authentication_mode": False, "admins": [_ADMIN]}},
        before=_with_admin,
        deploy=creating("platform", "AWS::EKS::AccessEntry"),
        said="Access entry already exists|already in use on this cluster",
    ),
)
