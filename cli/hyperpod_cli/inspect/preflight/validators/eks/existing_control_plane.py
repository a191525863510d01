"""Whether HyperPod can use an existing EKS cluster."""

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.eks.section import (
    DAEMON_SET_ADDONS,
    DNS_ADDON,
    FSX_ADDON,
    HYPERPOD_KUBERNETES_VERSIONS,
)
from hyperpod_cdk.schema.errors import Finding, error, warning
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.aws.session import answer_of, listed
from hyperpod_cli.inspect.preflight.deployed import addons_there, resources_of
from hyperpod_cli.inspect.preflight.quotas import other_clusters
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

Cluster = Mapping[str, Any]

_ARN = ("eks", "cluster_arn")
_CONFIG_MAP = "CONFIG_MAP"
_COMMANDS = ("describe-cluster --name", "list-addons --cluster-name")
_ACCESS_ENTRY = "AWS::EKS::AccessEntry"


@validator(
    phase=Phase.EXISTING_RESOURCES,
    iam=[
        "cloudformation:ListStackResources",
        "eks:DescribeCluster",
        "eks:ListAccessEntries",
        "eks:ListAddons",
        "sagemaker:DescribeCluster",
        "sagemaker:ListClusters",
    ],
)
def existing_control_plane(config: Config, target: Target) -> Problems:
    """Your EKS cluster does not match the configuration, or is used by another HyperPod cluster.

    Keys: eks.addons, eks.admins, eks.cluster_arn, eks.endpoint_access, eks.public_access_cidrs,
    eks.version, network.security_group_id, network.vpc_id

    [HyperPod](https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html)
    """
    arn = config.eks.cluster_arn
    if arn is None:
        return
    name = config.eks_cluster_name
    show, list_addons = (f"aws eks {command} {name}" for command in _COMMANDS)
    if arn.split(":")[4] != target.account:
        message = f"must be of account {target.account}, which HyperPod's nodes are in"
        yield error(_ARN, arn, message), show
        return
    answer = answer_of(target.client("eks").describe_cluster, name=name)
    if answer is None:
        message = "does not exist; correct it, or leave it out and a cluster is made"
        yield error(_ARN, arn, message), show
        return
    cluster = answer["cluster"]
    if cluster["status"] not in {"ACTIVE", "UPDATING"}:
        yield error(_ARN, arn, f"is {cluster['status']}; it must be ACTIVE"), show
        return
    for finding in (
        *_version(config, cluster),
        *_authentication_mode(config, cluster, target),
        *_network(config, cluster),
        *_endpoint(config, cluster),
    ):
        yield finding, show
    for finding in _addons(config, target):
        yield finding, list_addons
    # Under CONFIG_MAP there is none, and EKS refuses to list them.
    if _mode(cluster) != _CONFIG_MAP:
        for finding in _access_entries(config, target):
            yield finding, f"aws eks list-access-entries --cluster-name {name}"
    yield from _use(config, target)


def _version(config: Config, cluster: Cluster) -> Iterator[Finding]:
    """Find a version that HyperPod does not know, or that the configuration does not say.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html
    """
    current, configured = cluster["version"], config.eks.version
    if current not in HYPERPOD_KUBERNETES_VERSIONS:
        known = ", ".join(HYPERPOD_KUBERNETES_VERSIONS)
        message = f"has Kubernetes {current}, and HyperPod supports {known}; update the cluster"
        yield error(_ARN, config.eks.cluster_arn, message)
    elif current != configured:
        follow = "; node_groups follow it: their nodes are replaced"
        message = (
            f'is not the version of {config.eks_cluster_name}: write "{current}"; the deployment '
            "does not update a cluster that it did not make"
            f"{follow if config.node_groups else ''}"
        )
        yield error(("eks", "version"), configured, message)


def _authentication_mode(config: Config, cluster: Cluster, target: Target) -> Iterator[Finding]:
    """Find a cluster that knows no access entries, as by EKS's default.

    https://docs.aws.amazon.com/eks/latest/userguide/setting-up-access-entries.html
    """
    if _mode(cluster) == _CONFIG_MAP and not config.eks.set_authentication_mode:
        message = (
            "has the authentication mode CONFIG_MAP, and HyperPod needs access entries: run "
            f"`aws eks update-cluster-config --name {config.eks_cluster_name} --region "
            f"{target.region} --access-config authenticationMode=API_AND_CONFIG_MAP`, or set "
            "eks.set_authentication_mode: true; EKS never changes it back"
        )
        yield error(_ARN, config.eks.cluster_arn, message)


def _network(config: Config, cluster: Cluster) -> Iterator[Finding]:
    """Find nodes in another VPC, or without a security group of the control plane."""
    network, deployed, name = config.network, cluster["resourcesVpcConfig"], config.eks_cluster_name
    if network.vpc_id != deployed["vpcId"]:
        message = f"is not the VPC of {name}; write {deployed['vpcId']}"
        yield error(("network", "vpc_id"), network.vpc_id, message)
    of_cluster = filter(None, [deployed.get("clusterSecurityGroupId")])
    groups = [*deployed.get("securityGroupIds", ()), *of_cluster]
    if network.security_group_id not in groups:
        message = (
            f"is not carried by {name}, so nodes and control plane may not reach each other; name "
            f"one of {', '.join(groups)}"
        )
        yield error(("network", "security_group_id"), network.security_group_id, message)


def _endpoint(config: Config, cluster: Cluster) -> Iterator[Finding]:
    """Find an endpoint that is another than the configuration says.

    By that the deployment decides whether its function runs in the VPC.
    """
    eks, deployed, name = config.eks, cluster["resourcesVpcConfig"], config.eks_cluster_name
    open_to = [
        kind for kind in ("public", "private") if deployed.get(f"endpoint{kind.title()}Access")
    ]
    access = "_and_".join(open_to)
    cidrs = deployed.get("publicAccessCidrs") or []
    if eks.endpoint_access != access:
        message = f"is not that of {name}; write {access}"
        yield error(("eks", "endpoint_access"), eks.endpoint_access, message)
    elif "public" in open_to and set(cidrs) != set(eks.public_access_cidrs):
        message = f"are not those of {name}; write [{', '.join(cidrs)}]"
        yield error(("eks", "public_access_cidrs"), list(eks.public_access_cidrs), message)


def _addons(config: Config, target: Target) -> Iterator[Finding]:
    """Find add-ons that are asked for and there, and such as are needed and not there.

    CloudFormation does not take over an add-on that exists.
    """
    addons, name = config.eks.addons, config.eks_cluster_name
    there, others = addons_there(config, target, "platform", "addons")
    for index, addon in enumerate(addons):
        if addon in others:
            message = f"is on {name} already, and CloudFormation takes none over; omit it"
            yield error(("eks", "addons", index), addon, message)
    needed = {*DAEMON_SET_ADDONS, DNS_ADDON, *([FSX_ADDON] if config.needs_fsx_csi_driver else [])}
    missing = sorted(needed - there - set(addons))
    if missing:
        message = (
            f"leaves out {', '.join(missing)}, which {name} does not have as EKS add-ons; unless "
            "it has them in another way, add them here"
        )
        yield warning(("eks", "addons"), list(addons), message)


def _access_entries(config: Config, target: Target) -> Iterator[Finding]:
    """Find principals that have an access entry, of which EKS takes one for each.

    https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
    """
    named = [*named_resources(config.eks, "principal")]
    if not named:
        return
    eks, name = target.client("eks"), config.eks_cluster_name
    there = {*listed(eks, "list_access_entries", "accessEntries", clusterName=name)}
    entries = resources_of(config, "platform", target.client, resource_type=_ACCESS_ENTRY)
    ours = {identifier.partition("|")[0] for identifier in entries}
    for arn, path in {item.value: item.path for item in named}.items():
        if arn in there - ours:
            delete = f"aws eks delete-access-entry --cluster-name {name}"
            message = (
                f"has an access entry on {name}, and CloudFormation takes none over; omit it here, "
                f"or delete the entry: `{delete} --principal-arn {arn}`"
            )
            yield error(("eks", *path), arn, message)


def _use(config: Config, target: Target) -> Problems:
    """Find another HyperPod cluster that the cluster serves, of which it serves one.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html
    """
    arn = config.eks.cluster_arn
    for other in other_clusters(config, target):
        if (other.get("Orchestrator") or {}).get("Eks", {}).get("ClusterArn") == arn:
            name = other["ClusterName"]
            message = (
                f"serves the HyperPod cluster {name} already, and an EKS cluster serves one; "
                f"name another one, or delete {name} first"
            )
            yield error(_ARN, arn, message), f"aws sagemaker describe-cluster --cluster-name {name}"


def _mode(cluster: Cluster) -> str:
    """Return the authentication mode of a cluster; EKS's default is CONFIG_MAP."""
    return str((cluster.get("accessConfig") or {}).get("authenticationMode", _CONFIG_MAP))
