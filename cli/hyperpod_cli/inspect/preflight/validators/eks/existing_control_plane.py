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
from hyperpod_cdk.schema.errors import KeyPath, Severity
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.aws.session import answer_of, listed
from hyperpod_cli.inspect.preflight.deployed import resources_of
from hyperpod_cli.inspect.preflight.quotas import other_clusters
from hyperpod_cli.inspect.preflight.validator import Phase, Problem, Target, problem, validator
from hyperpod_stacks.table import stack_name

Cluster = Mapping[str, Any]

_ARN = ("eks", "cluster_arn")
_CONFIG_MAP = "CONFIG_MAP"
_ADDON = "AWS::EKS::Addon"
_ACCESS_ENTRY = "AWS::EKS::AccessEntry"


@validator(
    phase=Phase.EXISTING_RESOURCES,
    row="an EKS cluster of yours does not fit, or serves another HyperPod cluster",
    source="[HyperPod](https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html)",
    reads=[
        "cloudformation:ListStackResources",
        "eks:DescribeCluster",
        "eks:ListAccessEntries",
        "eks:ListAddons",
        "sagemaker:DescribeCluster",
        "sagemaker:ListClusters",
    ],
)
def existing_control_plane(config: Config, target: Target) -> Iterator[Problem]:
    """Find an EKS cluster that HyperPod refuses, or that is not what the configuration says."""
    arn = config.eks.cluster_arn
    if arn is None:
        return
    look = _Look(config)
    if arn.split(":")[4] != target.account:
        message = f"must be of account {target.account}, which HyperPod's nodes are in"
        yield look.problem(message, path=_ARN, value=arn)
        return
    answer = answer_of(target.client("eks").describe_cluster, name=config.eks_cluster_name)
    if answer is None:
        message = "does not exist; correct it, or leave it out and a cluster is made"
        yield look.problem(message, path=_ARN, value=arn)
        return
    cluster = answer["cluster"]
    if cluster["status"] not in {"ACTIVE", "UPDATING"}:
        message = f"is {cluster['status']}; it must be ACTIVE"
        yield look.problem(message, path=_ARN, value=arn)
        return
    yield from look.version(cluster)
    yield from look.authentication_mode(cluster, target)
    yield from look.network(cluster)
    yield from look.endpoint(cluster)
    yield from look.addons(target)
    yield from look.access_entries(cluster, target)
    yield from look.use(target)


class _Look:
    """What is wrong with a cluster that is there.

    Args:
        config: What names the cluster.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._name = config.eks_cluster_name
        self._command = f"aws eks describe-cluster --name {self._name}"

    def version(self, cluster: Cluster) -> Iterator[Problem]:
        """Find a version that HyperPod does not know, or that the configuration does not say.

        https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html
        """
        found, said = cluster["version"], self._config.eks.version
        if found not in HYPERPOD_KUBERNETES_VERSIONS:
            known = ", ".join(HYPERPOD_KUBERNETES_VERSIONS)
            message = f"has Kubernetes {found}, and HyperPod supports {known}; update the cluster"
            yield self.problem(message, path=_ARN, value=self._config.eks.cluster_arn)
        elif found != said:
            follow = "; node_groups follow it: their nodes are replaced"
            message = (
                f'is not the version of {self._name}: write "{found}"; the deployment does not '
                "update a cluster that it did not make"
                f"{follow if self._config.node_groups else ''}"
            )
            yield self.problem(message, path=("eks", "version"), value=said)

    def authentication_mode(self, cluster: Cluster, target: Target) -> Iterator[Problem]:
        """Find a cluster that knows no access entries, as by EKS's default.

        https://docs.aws.amazon.com/eks/latest/userguide/setting-up-access-entries.html
        """
        if _mode(cluster) == _CONFIG_MAP and not self._config.eks.set_authentication_mode:
            message = (
                "has the authentication mode CONFIG_MAP, and HyperPod needs access entries: run "
                f"`aws eks update-cluster-config --name {self._name} --region {target.region} "
                "--access-config authenticationMode=API_AND_CONFIG_MAP`, or set "
                "eks.set_authentication_mode: true; EKS never changes it back"
            )
            yield self.problem(message, path=_ARN, value=self._config.eks.cluster_arn)

    def network(self, cluster: Cluster) -> Iterator[Problem]:
        """Find nodes in another VPC, or without a security group of the control plane."""
        network, found = self._config.network, cluster["resourcesVpcConfig"]
        if network.vpc_id != found["vpcId"]:
            message = f"is not the VPC of {self._name}; write {found['vpcId']}"
            yield self.problem(message, path=("network", "vpc_id"), value=network.vpc_id)
        groups = [
            *found.get("securityGroupIds", ()),
            *filter(None, [found.get("clusterSecurityGroupId")]),
        ]
        if network.security_group_id not in groups:
            message = (
                f"is not carried by {self._name}, so nodes and control plane may not reach each "
                f"other; name one of {', '.join(groups)}"
            )
            path = ("network", "security_group_id")
            yield self.problem(message, path=path, value=network.security_group_id)

    def endpoint(self, cluster: Cluster) -> Iterator[Problem]:
        """Find an endpoint that is another than the configuration says.

        By that the deployment decides whether its function runs in the VPC.
        """
        eks, found = self._config.eks, cluster["resourcesVpcConfig"]
        open_to = [
            kind
            for kind, key in (
                ("public", "endpointPublicAccess"),
                ("private", "endpointPrivateAccess"),
            )
            if found.get(key)
        ]
        access = "_and_".join(open_to)
        if eks.endpoint_access != access:
            message = f"is not that of {self._name}; write {access}"
            yield self.problem(message, path=("eks", "endpoint_access"), value=eks.endpoint_access)
            return
        cidrs = found.get("publicAccessCidrs") or []
        if "public" in open_to and set(cidrs) != set(eks.public_access_cidrs):
            message = f"are not those of {self._name}; write [{', '.join(cidrs)}]"
            yield self.problem(
                message, path=("eks", "public_access_cidrs"), value=list(eks.public_access_cidrs)
            )

    def addons(self, target: Target) -> Iterator[Problem]:
        """Find add-ons that are asked for and there, and such as are needed and not there.

        CloudFormation does not take over an add-on that exists.
        """
        eks = target.client("eks")
        there = {*listed(eks, "list_addons", "addons", clusterName=self._name)}
        ours = {
            identifier.partition("|")[2]
            for kind in ("platform", "addons")
            for identifier in resources_of(
                stack_name(self._config, kind), target.client, resource_type=_ADDON
            )
        }
        command = f"aws eks list-addons --cluster-name {self._name}"
        for index, name in enumerate(self._config.eks.addons):
            if name in there - ours:
                message = f"is on {self._name} already, and CloudFormation takes none over; omit it"
                path: KeyPath = ("eks", "addons", index)
                yield self.problem(message, path=path, value=name, command=command)
        needed = {*DAEMON_SET_ADDONS, DNS_ADDON}
        if self._config.needs_fsx_csi_driver:
            needed.add(FSX_ADDON)
        missing = sorted(needed - there - set(self._config.eks.addons))
        if missing:
            message = (
                f"leaves out {', '.join(missing)}, which {self._name} does not have as EKS "
                "add-ons; unless it has them in another way, add them here"
            )
            yield self.problem(
                message,
                path=("eks", "addons"),
                value=list(self._config.eks.addons),
                command=command,
                severity=Severity.WARNING,
            )

    def access_entries(self, cluster: Cluster, target: Target) -> Iterator[Problem]:
        """Find principals that have an access entry, of which EKS takes one for each.

        https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
        """
        named = {
            each.value: each.path
            for each in named_resources(self._config.eks)
            if each.kind == "principal"
        }
        # Under CONFIG_MAP there is none, and EKS refuses to list them.
        if not named or _mode(cluster) == _CONFIG_MAP:
            return
        eks = target.client("eks")
        there = {*listed(eks, "list_access_entries", "accessEntries", clusterName=self._name)}
        ours = {
            identifier.partition("|")[0]
            for identifier in resources_of(
                stack_name(self._config, "platform"), target.client, resource_type=_ACCESS_ENTRY
            )
        }
        for arn, path in named.items():
            if arn in there - ours:
                delete = f"aws eks delete-access-entry --cluster-name {self._name}"
                message = (
                    f"has an access entry on {self._name}, and CloudFormation takes none over; "
                    f"omit it here, or delete the entry: `{delete} --principal-arn {arn}`"
                )
                command = f"aws eks list-access-entries --cluster-name {self._name}"
                yield self.problem(message, path=("eks", *path), value=arn, command=command)

    def use(self, target: Target) -> Iterator[Problem]:
        """Find another HyperPod cluster that the cluster serves, of which it serves one.

        https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html
        """
        arn = self._config.eks.cluster_arn
        for other in other_clusters(self._config, target):
            served = (other.get("Orchestrator") or {}).get("Eks", {}).get("ClusterArn")
            if served == arn:
                name = other["ClusterName"]
                message = (
                    f"serves the HyperPod cluster {name} already, and an EKS cluster serves one; "
                    f"name another one, or delete {name} first"
                )
                command = f"aws sagemaker describe-cluster --cluster-name {name}"
                yield self.problem(message, path=_ARN, value=arn, command=command)

    def problem(
        self,
        message: str,
        *,
        path: KeyPath,
        value: object,
        command: str | None = None,
        severity: Severity = Severity.ERROR,
    ) -> Problem:
        """Return a problem that describing the cluster shows, unless another command does."""
        command = command or self._command
        return problem(path, value, message, command=command, severity=severity)


def _mode(cluster: Cluster) -> str:
    """Return the authentication mode of a cluster; EKS's default is CONFIG_MAP."""
    return str((cluster.get("accessConfig") or {}).get("authenticationMode", _CONFIG_MAP))
