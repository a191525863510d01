"""What orchestrates the nodes of a HyperPod cluster, and the request that says so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam

from hyperpod_cdk.hyperpod.node_settings import NO_MOUNTS, Mounts
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.section import members
from hyperpod_cdk.slurm.accounting import AccountingDatabase, ImportedAccountingDatabase
from hyperpod_cdk.synthesis.reasons import statement

# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html
_OWN_INTERFACES = (
    "ec2:CreateNetworkInterface",
    "ec2:CreateNetworkInterfacePermission",
    "ec2:DeleteNetworkInterface",
    "ec2:DeleteNetworkInterfacePermission",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class InterfaceUse:
    """What nodes do with network interfaces of the deployment's VPC.

    Attributes:
        user: Who makes and changes them.
        why: What for; reads on from the user.
        actions: What that takes, of EC2. Default: what HyperPod takes for the nodes' own.
        attaches: Whether HyperPod is asked for further ones. Default: it is not.
        of_service: Whether the instances are in an account of the service. Default: they are.
        added_by: The key that adds nodes with other actions than HyperPod's. Default: none.
    """

    user: str
    why: str
    actions: Sequence[str] = _OWN_INTERFACES
    attaches: bool = False
    of_service: bool = True
    added_by: str | None = None


class Orchestrator(Protocol):
    """What runs the jobs of a HyperPod cluster: Amazon EKS or Slurm."""

    @property
    def name(self) -> str:
        """Its name in `cluster.orchestrator`."""
        ...

    @property
    def interface_use(self) -> InterfaceUse:
        """What nodes do with network interfaces."""
        ...

    @property
    def mounts(self) -> Mounts:
        """What HyperPod mounts on the nodes."""
        ...

    def to_request(self, cluster: ClusterConfig) -> dict[str, Any]:
        """Return the `Orchestrator` member of CreateCluster's input for a cluster."""
        ...

    def node_statements(self) -> Sequence[iam.PolicyStatement]:
        """Return the rights that nodes need on it."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Eks:
    """Amazon EKS orchestrates the nodes: each is a node of the Kubernetes cluster.

    Attributes:
        cluster: The EKS cluster; HyperPod takes the authentication modes `API` and
            `API_AND_CONFIG_MAP`
            (https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html).
    """

    cluster: eks.ICluster

    name = "eks"
    interface_use = InterfaceUse(
        user="The VPC CNI",
        why="gives pods addresses",
        actions=(
            "ec2:AssignPrivateIpAddresses",
            "ec2:AttachNetworkInterface",
            *_OWN_INTERFACES,
            "ec2:ModifyNetworkInterfaceAttribute",
            "ec2:UnassignPrivateIpAddresses",
        ),
        attaches=True,
    )
    mounts = NO_MOUNTS

    def to_request(self, cluster: ClusterConfig) -> dict[str, Any]:  # noqa: ARG002 - Slurm reads it
        """Return the `Orchestrator` member of CreateCluster's input for a cluster."""
        return {"Eks": {"ClusterArn": self.cluster.cluster_arn}}

    def node_statements(self) -> Sequence[iam.PolicyStatement]:
        """Return the right of nodes to hand pods the credentials of their Pod Identity."""
        return [
            statement(
                self.cluster,
                sid="PodIdentity",
                why="The Pod Identity agent exchanges a pod's token for its role.",
                actions=["eks-auth:AssumeRoleForPodIdentity"],
                resources=[self.cluster.cluster_arn],
            )
        ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Slurm:
    """Slurm orchestrates the nodes: HyperPod sets it up on them, one is the controller.

    Attributes:
        mounts: What HyperPod mounts on the nodes. Default: nothing.
        accounting: Where Slurm keeps its accounting. Default: on the controller.
    """

    mounts: Mounts = NO_MOUNTS
    accounting: AccountingDatabase | ImportedAccountingDatabase | None = None

    name = "slurm"
    interface_use = InterfaceUse(user="HyperPod", why="puts nodes into the network")

    def to_request(self, cluster: ClusterConfig) -> dict[str, Any]:
        """Return the `Orchestrator` member of CreateCluster's input for a cluster."""
        database = None if self.accounting is None else self.accounting.to_request()
        return {
            "Slurm": members(
                {**cluster.slurm_settings.to_request(), "AccountingDatabase": database}
            )
        }

    def node_statements(self) -> Sequence[iam.PolicyStatement]:
        """Return no further right: who submits a job is a user of the nodes, not of IAM."""
        return ()


def cluster_request(
    cluster: ClusterConfig,
    *,
    orchestrator: Mapping[str, Any],
    security_group_id: str,
    subnet_id: str,
    tags: Mapping[str, str],
) -> dict[str, Any]:
    """Return the input of CreateCluster for a cluster whose groups are filled in.

    The subnet is the cluster's own, and never changes: groups elsewhere name theirs.
    """
    return members(
        {
            **cluster.to_request(),
            "Orchestrator": dict(orchestrator),
            "VpcConfig": {"SecurityGroupIds": [security_group_id], "Subnets": [subnet_id]},
            "Tags": [{"Key": key, "Value": value} for key, value in sorted(tags.items())],
        }
    )
