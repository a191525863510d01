"""What keeps the namespaces of editors apart: admission policies, network policies and quotas."""

from collections.abc import Sequence
from typing import Any, Final

from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IDependable

from aws_reference.vpc_cidr_blocks import PRIVATE_RANGES
from hyperpod_cdk.eks.section import (
    ISOLATION_RELEASE,
    SYSTEM_NAMESPACES,
    EditorsConfig,
    named_namespaces,
)
from hyperpod_cdk.helm.release import HelmRelease
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.schema.cidrs import is_private
from hyperpod_cdk.synthesis.assets import asset_directory

DYNAMIC_CLASS: Final = "fsx-dynamic"
"""The StorageClass whose claims get file systems of their own."""

# 100.64.0.0/10 is a block of VPCs too, and 169.254.0.0/16 has the metadata of a node.
_CLOSED = (*map(str, PRIVATE_RANGES), "100.64.0.0/10", "169.254.0.0/16")


class NamespaceIsolation(Construct):
    """Keeps pods in editors' namespaces from nodes, from other namespaces and from the internet.

    ValidatingAdmissionPolicies hold pods to the Pod Security Standard `baseline` and to the volumes
    of `restricted`, and refuse what gets past the scheduler, past Kueue's quotas or to the
    internet. They hold for patterns and for namespaces to come. Each namespace with a name is made,
    or taken over if no Helm release has it, and kept: it gets a NetworkPolicy, for which the VPC
    CNI needs `enableNetworkPolicy`, and a ResourceQuota.

    It is a Helm release in `kube-system`. Without it, an editor's privileged pod is root on its
    node: let the access entries of editors depend on it.

    Args:
        cluster: The EKS cluster, of Kubernetes 1.30 or later.
        provisioner: Runs helm; needs `ProvisionerAccess` to the cluster.
        editors: Whose namespaces, and what is allowed in them; at least one.
        network: Where nodes and pods have addresses.
        trusted_namespaces: Those of operators and add-ons, whose pods may connect to pods of
            editors. Default: `kube-system`.
        queues: Whether pods get accelerators through Kueue's queues alone. Default: no.
        dynamic_storage: Whether claims may make file systems. Default: no.
        release: Release name. Default: `hyperpod-pod-security`.
        depends_on: What else the release needs, such as `ProvisionerAccess`. Default: nothing.

    Attributes:
        namespaces: The namespaces with a name.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        provisioner: Provisioner,
        editors: Sequence[EditorsConfig],
        network: NetworkConfig,
        trusted_namespaces: Sequence[str] = (),
        queues: bool = False,
        dynamic_storage: bool = False,
        release: str = ISOLATION_RELEASE,
        depends_on: Sequence[IDependable] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        self.namespaces = named_namespaces(editors)
        public = {name for each in editors if each.public for name in each.namespaces}
        values: dict[str, Any] = {
            "namespaces": sorted({name for each in editors for name in each.namespaces}),
            "privileged": sorted({name for each in editors for name in each.privileged_namespaces}),
            "public": sorted(public),
            "made": [
                {
                    "name": name,
                    "storage": _storage(editors, name) if dynamic_storage else {},
                    **_peers(editors, name),
                }
                for name in self.namespaces
            ],
            **_users(editors),
            "trusted": sorted({*SYSTEM_NAMESPACES[:1], *trusted_namespaces}),
            "privateCidrs": [*_CLOSED, *_public_blocks(network)],
            # Of a subnet that exists, the block is not known.
            "podCidrs": []
            if any(subnet.cidr is None for subnet in network.hyperpod_subnets)
            else [*network.new_hyperpod_cidrs],
            "queues": queues,
        }
        HelmRelease(
            self,
            "Release",
            cluster=cluster,
            provisioner=provisioner,
            chart=asset_directory("charts") / "namespace-isolation",
            release=release,
            namespace="kube-system",
            values=values,
            adopt_namespaces=[name for name in self.namespaces if name != "default"],
            depends_on=depends_on,
        )


def _storage(editors: Sequence[EditorsConfig], namespace: str) -> dict[str, str]:
    """Return what a namespace may ask of each StorageClass: the most that an entry gives it."""
    most = max(each.dynamic_storage_gib for each in editors if namespace in each.namespaces)
    return {DYNAMIC_CLASS: f"{most}Gi"}


def _peers(editors: Sequence[EditorsConfig], namespace: str) -> dict[str, Any]:
    """Return the other namespaces of a team, and those of teams with which it shares trust.

    Namespaces without a team are apart, whoever edits them.
    """
    own = [each for each in editors if each.user_ids is not None and namespace in each.namespaces]
    shares = any(each.shares_trust for each in own)
    trusted = [each for each in editors if shares and each.shares_trust]
    peers = {name for each in (*own, *trusted) for name in each.namespaces} - {namespace}
    return {"peers": sorted(peers)} if peers else {}


def _users(editors: Sequence[EditorsConfig]) -> dict[str, Any]:
    users = [
        {
            "name": each.team,
            "namespaces": [*each.namespaces],
            "first": each.user_ids.first,
            "last": each.user_ids.last,
        }
        for each in editors
        if each.user_ids is not None
    ]
    return {"users": users} if users else {}


def _public_blocks(network: NetworkConfig) -> Sequence[str]:
    """Return the blocks of a new VPC that are none of a private network."""
    blocks = [*([network.vpc_cidr] if network.vpc_cidr else []), *network.new_hyperpod_cidrs]
    return [block for block in dict.fromkeys(blocks) if not is_private(block)]
