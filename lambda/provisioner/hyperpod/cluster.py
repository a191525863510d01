"""`Custom::HyperPodCluster`: a SageMaker HyperPod cluster orchestrated by EKS.

`on_event` and every poll of `is_complete` do the same: describe the cluster, decide what is next,
do it. `decision` has the table of what is found and what follows. The physical id is the cluster's
name, so that an Update to another name is a replacement; on the same EKS cluster it is refused.

CloudFormation does not tag what a custom resource makes, so the cluster carries the stack's id, the
logical id, the claim of the request that has it, and what became of its creation.
"""

from collections.abc import Callable

from hyperpod_shared.aws_errors import AWS_ERRORS, is_not_found
from hyperpod_shared.clusters import CLUSTER_LABEL, ClusterInput
from hyperpod_shared.errors import ProvisioningError
from provisioner.aws.api import CloudFormationApi, SageMakerApi
from provisioner.aws.stack import StackPhase, stack_phase
from provisioner.framework import log
from provisioner.framework.request import NOT_YET, Accepted, Progress, Request
from provisioner.framework.retry import Clock
from provisioner.hyperpod.api import HyperPodApi
from provisioner.hyperpod.claim import visible_claim
from provisioner.hyperpod.cluster_request import ClusterRequest
from provisioner.hyperpod.decision import decide
from provisioner.hyperpod.executor import Executor
from provisioner.hyperpod.found import Found
from provisioner.hyperpod.steps import Fail, Wait
from provisioner.kubernetes.cluster import EksConnection
from provisioner.kubernetes.failures import CommandFailedError
from provisioner.kubernetes.kubectl import Kubectl

_COMMAND_SECONDS = 30.0
_NAMESPACE = "default"
# A deletion must not fail for what is left in a Kubernetes API that cannot be reached.
_PASSED_OVER: tuple[type[Exception], ...] = (*AWS_ERRORS, CommandFailedError, ProvisioningError)

DeleteNodeObjects = Callable[[ClusterInput, Clock], None]


def delete_node_objects(cluster: ClusterInput, clock: Clock, *, connection: EksConnection) -> None:
    """Delete the Kubernetes Nodes that outlive their HyperPod cluster, where they can be reached.

    Nothing else deletes them: the instances are in the service's account, where the cloud
    controller manager of EKS does not see them. Pods stay bound to such a Node, and hold up their
    namespaces.
    """
    arn = cluster.get("Orchestrator", {}).get("Eks", {}).get("ClusterArn", "")
    if not arn:
        return
    try:
        described = connection.describe(arn.rpartition("/")[2], clock)
        with connection.connect(described, namespace=_NAMESPACE) as commands:
            kubectl = Kubectl(
                run=commands.kubectl, home=commands.home, timeout_seconds=lambda: _COMMAND_SECONDS
            )
            selector = f"{CLUSTER_LABEL}={cluster['ClusterName']}"
            deleted = kubectl.delete("nodes", selector=selector)
    except _PASSED_OVER as error:
        log.warning("nodes may be left in Kubernetes", eks_cluster=arn, cause=str(error))
        return
    log.info("nodes left in Kubernetes", eks_cluster=arn, deleted=deleted)


class HyperPodCluster:
    """Handles `Custom::HyperPodCluster`.

    Args:
        sagemaker: HyperPod.
        cloudformation: Says what the stack is doing.
        delete_node_objects: Deletes the Kubernetes Nodes of a cluster that is gone.
    """

    def __init__(
        self,
        *,
        sagemaker: SageMakerApi,
        cloudformation: CloudFormationApi,
        delete_node_objects: DeleteNodeObjects,
    ) -> None:
        self._sagemaker = sagemaker
        self._cloudformation = cloudformation
        self._delete_node_objects = delete_node_objects

    def on_event(self, request: Request, clock: Clock) -> Accepted:
        """Make the first change, if one can be made now."""
        now, stack = clock.now(), None
        if request.type == "Update":
            stack = stack_phase(self._cloudformation, request.owner.stack_id, clock=clock)
        rolls_back = stack is StackPhase.ROLLING_BACK
        cluster_request = ClusterRequest.of(request, now=now, waits=False, rolls_back=rolls_back)
        executor = self._executor(cluster_request, clock, patient=True)
        described, tags = executor.api.describe()
        found = Found(now=now, described=described, tags=tags, stack=stack)
        answer: Progress | Found = found
        while isinstance(answer, Found):
            found = answer
            step = decide(found, cluster_request)
            # `is_complete` fails: CloudFormation then sends the Delete of what there is.
            answer = executor.take(
                Wait(why="the cluster failed") if isinstance(step, Fail) else step, found
            )
        visible, own = visible_claim(found.tags), cluster_request.claim
        seen = visible if visible and visible.request == own.request else own
        claim = executor.tags.written or seen
        physical_id = cluster_request.wanted.cluster_name
        if request.type == "Delete":
            physical_id = request.physical_id or physical_id
        return Accepted(physical_id=physical_id, claim=str(claim))

    def is_complete(self, request: Request, clock: Clock) -> Progress:
        """Make the next change if one is due, say whether all is done, or raise why it failed."""
        now = clock.now()
        cluster_request = ClusterRequest.of(request, now=now, waits=True)
        executor = self._executor(cluster_request, clock, patient=False)
        try:
            described, tags = executor.api.describe()
            answer: Progress | Found = Found(now=now, described=described, tags=tags)
            while isinstance(answer, Found):
                answer = executor.take(decide(answer, cluster_request), answer)
        except AWS_ERRORS as error:
            # Gone between two calls: the next poll sees that it is.
            if is_not_found(error) or cluster_request.may_succeed_later(error, now):
                log.info(
                    "not yet",
                    cluster=executor.api.name,
                    cause=str(error),
                    waited_seconds=round(now - cluster_request.claim.started_at),
                )
                return NOT_YET
            raise
        if request.type == "Delete" and answer.complete and not described:
            self._delete_node_objects(cluster_request.wanted.cluster_input, clock)
        return answer

    def _executor(
        self, cluster_request: ClusterRequest, clock: Clock, *, patient: bool
    ) -> Executor:
        name = cluster_request.wanted.cluster_name
        return Executor(
            api=HyperPodApi(sagemaker=self._sagemaker, name=name, clock=clock, patient=patient),
            cloudformation=self._cloudformation,
            request=cluster_request,
        )
