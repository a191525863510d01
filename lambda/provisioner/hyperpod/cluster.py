"""`Custom::HyperPodCluster`: a SageMaker HyperPod cluster orchestrated by EKS.

`on_event` and every poll of `is_complete` do the same: describe the cluster, decide what is next,
do it. `decision` has the table of what is found and what follows. The physical id is the cluster's
name, so that an Update to another name is a replacement; on the same EKS cluster it is refused.

CloudFormation does not tag what a custom resource makes, so the cluster carries the stack's id, the
logical id, the claim of the request that has it, and what became of its creation.
"""

from collections.abc import Callable
from dataclasses import dataclass

from hyperpod_shared.aws_errors import AWS_ERRORS, AwsClient, is_not_found, is_transient
from hyperpod_shared.clusters import ClusterInput
from provisioner.framework import log
from provisioner.framework.request import Request
from provisioner.framework.resource import NOT_YET, Accepted, Progress
from provisioner.framework.retry import Clock
from provisioner.framework.turn import Turn
from provisioner.hyperpod.api import HyperPodApi
from provisioner.hyperpod.cluster_request import ClusterRequest, HyperPodClusterProperties
from provisioner.hyperpod.decision import decide
from provisioner.hyperpod.executor import Executor
from provisioner.hyperpod.found import Found
from provisioner.hyperpod.steps import Fail, Wait


@dataclass(frozen=True, kw_only=True)
class HyperPodCluster:
    """Handles `Custom::HyperPodCluster`.

    `delete_node_objects` deletes the Kubernetes Nodes of a cluster that is gone.
    """

    properties_type = HyperPodClusterProperties
    sagemaker: AwsClient
    delete_node_objects: Callable[[ClusterInput, Clock], None]

    def on_event(
        self, request: Request, properties: HyperPodClusterProperties, turn: Turn
    ) -> Accepted:
        """Make the first change, if one can be made now."""
        executor = self._executor(request, properties, turn, waits=False)
        answer: Progress | Found = executor.look()
        while isinstance(answer, Found):
            found = answer
            step = decide(found, executor.request)
            # `is_complete` fails: CloudFormation then sends the Delete of what there is.
            answer = executor.take(
                Wait(why="the cluster failed") if isinstance(step, Fail) else step, found
            )
        asked = executor.request
        seen = asked.visible_claim(found.tags) or asked.claim
        return Accepted(claim=str(executor.written or seen))

    def is_complete(
        self, request: Request, properties: HyperPodClusterProperties, turn: Turn
    ) -> Progress:
        """Make the next change if one is due, say whether all is done, or raise why it failed."""
        executor, is_there = self._executor(request, properties, turn, waits=True), True
        try:
            answer: Progress | Found = executor.look()
            while isinstance(answer, Found):
                is_there = bool(answer.described)
                answer = executor.take(decide(answer, executor.request), answer)
        except AWS_ERRORS as error:
            # Gone between two calls: the next poll sees that it is.
            later = executor.request.may_succeed_later(error, turn.clock.now())
            if is_not_found(error) or (later and not is_transient(error)):
                log.info("not yet", cluster=executor.api.name, cause=str(error))
                return NOT_YET
            raise
        if request.type == "Delete" and answer.complete and not is_there:
            turn.require()  # another stack's cluster may have the name by now
            self.delete_node_objects(properties.cluster_input, turn.clock)
        return answer

    def _executor(
        self, request: Request, properties: HyperPodClusterProperties, turn: Turn, *, waits: bool
    ) -> Executor:
        return Executor(
            api=HyperPodApi(
                sagemaker=self.sagemaker,
                name=properties.cluster_name,
                turn=turn,
                patient=not waits,
            ),
            request=ClusterRequest.of(request, properties, turn, waits=waits),
        )
