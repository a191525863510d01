"""What orchestrates the nodes of a HyperPod cluster."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam

from hyperpod_cdk.synthesis.reasons import statement


class Orchestrator(Protocol):
    """What runs the jobs of a HyperPod cluster: Amazon EKS."""

    def to_request(self) -> dict[str, Any]:
        """Return the `Orchestrator` member of CreateCluster's input."""
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

    def to_request(self) -> dict[str, Any]:
        """Return the `Orchestrator` member of CreateCluster's input."""
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
