"""What runs the jobs on a cluster's nodes, and what a command may ask of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from hyperpod_cdk import Config
from hyperpod_cli.aws.kubernetes_api import kubernetes_api
from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.operate.clusters import ClusterNode, DescribedCluster
from hyperpod_cli.operate.node_groups import ManagedNodeGroupState, node_groups_of
from hyperpod_cli.operate.nodes.actions import DELETE, REBOOT, REPLACE, NodeAction
from hyperpod_cli.operate.nodes.health import RUNNING, Health, health_of_nodes, pods_on
from hyperpod_cli.operate.nodes.named import NumberedNode
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_shared.clusters import COMPUTE, CONTROLLER, Group, node_type

_INSTEAD = {
    "addon-versions": "Slurm comes with the nodes' AMI: `hyperpod-cdk status` shows its updates",
    "kubeconfig": "`hyperpod-cdk connect controller` opens a shell with sinfo, squeue and sbatch",
    "release": "`scontrol update node=NAME state=resume` on the controller lets jobs run there",
    "validate-nodes": "submit checks with sbatch (docs: slurm-jobs)",
}
"""What takes the place of a command that needs Kubernetes, by its name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Orchestrator:
    """What runs the jobs on a cluster's nodes; here, what is said where it has nothing to say."""

    cluster: DescribedCluster

    def eks_cluster_name(self, command: str = "") -> str:
        """Return the EKS cluster's name; refuse a command that needs one where there is none."""
        refuse_kubernetes(self.cluster.name, command)

    def remarks(self) -> Sequence[str]:
        """Return what is to be said with the health of the nodes."""
        return ()

    def health(self, session: AwsSession, nodes: Sequence[ClusterNode]) -> Mapping[str, Health]:  # noqa: ARG002 - asks no one
        """Return what it knows of nodes, by `kubernetes_name`.

        OpsError: it cannot be reached; ClientError and BotoCoreError: AWS has no answer.
        """
        return {node.kubernetes_name: Health() for node in nodes if node.status == RUNNING}

    def node_groups(self, session: AwsSession) -> Sequence[ManagedNodeGroupState]:  # noqa: ARG002 - there are none
        """Return the nodes that it has in addition to the cluster's, by group."""
        return ()

    def pods(
        self,
        session: AwsSession,  # noqa: ARG002 - there are none
        nodes: Sequence[NumberedNode],  # noqa: ARG002
    ) -> Mapping[str, Sequence[str]]:
        """Return the pods of users on nodes by instance ID; raises as `health` does."""
        return {}

    def jobs(self, nodes: Sequence[NumberedNode]) -> Iterator[str]:  # noqa: ARG002 - pods are known
        """Yield how the jobs on nodes are looked at, where that is not known here."""
        yield from ()

    def refuse(self, action: NodeAction, nodes: Sequence[NumberedNode]) -> None:
        """Refuse what cannot be done to nodes."""

    def other_ways(self, action: NodeAction, nodes: Sequence[NumberedNode]) -> Iterator[str]:  # noqa: ARG002 - none
        """Yield how it has the same done, and what follows for it."""
        yield from ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Eks(Orchestrator):
    arn: str

    def eks_cluster_name(self, command: str = "") -> str:  # noqa: ARG002 - it serves all
        return self.arn.rpartition("/")[2]

    def health(self, session: AwsSession, nodes: Sequence[ClusterNode]) -> Mapping[str, Health]:  # noqa: ARG002 - all
        with kubernetes_api(session, eks_cluster=self.eks_cluster_name()) as api:
            return health_of_nodes(api, cluster=self.cluster.name)

    def node_groups(self, session: AwsSession) -> Sequence[ManagedNodeGroupState]:
        return node_groups_of(session, eks_cluster=self.eks_cluster_name())

    def pods(
        self, session: AwsSession, nodes: Sequence[NumberedNode]
    ) -> Mapping[str, Sequence[str]]:
        with kubernetes_api(session, eks_cluster=self.eks_cluster_name()) as api:
            return {node.node.id: pods_on(api, node.node.kubernetes_name) for node in nodes}


class _Slurm(Orchestrator):
    def remarks(self) -> Sequence[str]:
        return (
            "Health is what SageMaker lists; sinfo on the controller says what Slurm makes of it.",
        )

    def jobs(self, nodes: Sequence[NumberedNode]) -> Iterator[str]:
        hosts = ",".join(node.node.host for node in self._of_compute(nodes))
        if hosts:
            yield f"What runs on them: `squeue --nodelist={hosts}` on a login node or controller."

    def refuse(self, action: NodeAction, nodes: Sequence[NumberedNode]) -> None:
        # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_BatchReplaceClusterNodes.html
        # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_BatchDeleteClusterNodes.html
        for node in nodes if action in (REPLACE, DELETE) else ():
            if node_type(self._group(node)) == CONTROLLER:
                raise OpsError(
                    f"node: {node} is the controller, which HyperPod does not {action.name}: "
                    f"`hyperpod-cdk reboot {node.node.id}` restarts it; if that does not help, "
                    "`hyperpod-cdk destroy` and `hyperpod-cdk deploy` make the cluster again; its "
                    "file systems "
                    "stay"
                )

    def other_ways(self, action: NodeAction, nodes: Sequence[NumberedNode]) -> Iterator[str]:
        if any(node_type(self._group(node)) == CONTROLLER for node in nodes):
            yield "Until the controller is back, no jobs can be submitted; those that run go on."
        # Case and spelling matter.
        # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-replace-faulty-instance.html
        for node in self._of_compute(nodes) if action in (REPLACE, REBOOT) else ():
            yield (
                f"Slurm's own way, on the controller: sudo scontrol update node={node.node.host} "
                f'state=fail reason="Action:{action.name.capitalize()}"'
            )

    def _group(self, node: NumberedNode) -> Group:
        return self.cluster.groups.get(node.node.group, {})

    def _of_compute(self, nodes: Sequence[NumberedNode]) -> list[NumberedNode]:
        return [
            node for node in nodes if node_type(self._group(node)) == COMPUTE and node.node.host
        ]


def orchestrator_of(cluster: DescribedCluster) -> Orchestrator:
    """Return what runs the jobs on a cluster's nodes."""
    eks = (cluster.described.get("Orchestrator") or {}).get("Eks")
    if eks is None:
        return _Slurm(cluster=cluster)
    return _Eks(cluster=cluster, arn=str(eks["ClusterArn"]))


def eks_cluster_of(config: Config, command: str = "") -> str:
    """Return the name of a configuration's EKS cluster, or refuse a command that needs it."""
    if config.control_plane is None:
        refuse_kubernetes(config.cluster.name, command)
    return config.eks_cluster_name


def refuse_kubernetes(cluster: str, command: str) -> NoReturn:
    """Refuse a command that needs Kubernetes, with what takes its place."""
    instead = f"; {_INSTEAD[command]}" if command else ""
    raise OpsError(f"cluster: {cluster!r} has no Kubernetes: Slurm orchestrates it{instead}")
