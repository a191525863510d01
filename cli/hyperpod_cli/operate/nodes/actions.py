"""What can be done to nodes, and the call that does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hyperpod_cli.terminal.errors import OpsError

if TYPE_CHECKING:  # the commands import this, and boto3 takes long
    from hyperpod_cli.aws.session import AwsClient

MOST_NODES = 25
"""Nodes of one call. BatchReplaceClusterNodes and BatchRebootClusterNodes take no more:
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_BatchReplaceClusterNodes.html"""


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeAction:
    """Something that can be done to nodes; after so many minutes, its wait ends."""

    name: str
    summary: str
    effect: str
    minutes: float

    @property
    def operation(self) -> str:
        """SageMaker's name of it."""
        return f"Batch{self.name.capitalize()}ClusterNodes"


REPLACE = NodeAction(
    name="replace",
    summary="Replace nodes by new instances; their volumes are lost.",
    effect="is terminated, and a new instance takes its place; all its volumes are lost",
    minutes=60,
)
REBOOT = NodeAction(
    name="reboot",
    summary="Restart nodes; their volumes stay.",
    effect="restarts; its volumes stay",
    minutes=20,
)
DELETE = NodeAction(
    name="delete",
    summary="Terminate nodes; groups get smaller, volumes are lost.",
    effect="is terminated, and its group has one node less; all its volumes are lost",
    minutes=40,
)


def refuse_too_many(action: NodeAction, count: int) -> None:
    """Refuse more nodes than one call takes."""
    if count > MOST_NODES:
        raise OpsError(
            f"nodes: {count} are too many; {action.name} takes up to {MOST_NODES} at once: run it "
            "again for the others when these are done"
        )


def act(
    sagemaker: AwsClient, action: NodeAction, *, cluster: str, ids: Sequence[str]
) -> dict[str, str]:
    """Begin to do something to nodes; return why it does not happen to some, by ID.

    BotoCoreError: AWS could not be asked, or did not answer: the nodes tell what happened.
    """
    call = getattr(sagemaker, f"batch_{action.name}_cluster_nodes")
    answer = call(ClusterName=cluster, NodeIds=[*ids])
    return {
        failed["NodeId"]: _why(failed.get("ErrorCode") or failed["Code"], failed["Message"])
        for failed in answer.get("Failed") or ()
    }


# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_BatchReplaceClusterNodesError.html
_NEXT_STEPS = {
    "InstanceIdNotFound": "it is gone: see `hyperpod-cdk status`",
    "NodeIdNotFound": "it is gone: see `hyperpod-cdk status`",
    "InvalidInstanceStatus": "wait until it is Running, then run it again",
    "InvalidNodeStatus": "wait until it is Running, then run it again",
    "InstanceIdInUse": "wait until what goes on with it is done, then run it again",
    "NodeIdInUse": "wait until what goes on with it is done, then run it again",
}


def _why(code: str, message: str) -> str:
    return f"{code}: {message.rstrip('. ')}; {_NEXT_STEPS.get(code, 'run it again')}"
