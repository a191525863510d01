"""`Custom::DeletionCheck`: refuses the deletion of its stack before anything is deleted.

| request                               | on_event                                   | is_complete |
|---------------------------------------|--------------------------------------------|-------------|
| Create, Update                        | nothing                                    | at once     |
| Delete while the stack is deleted     | refused if users would lose objects or     | at once     |
|                                       | running jobs and nobody consented          |             |
| Delete while a deployment is undone,  | nothing: it would leave the stack no way   | at once     |
| or of a resource that was replaced    | out                                        |             |

It depends on every other resource of its stack, so CloudFormation deletes it first.
"""

from provisioner.aws.api import CloudFormationApi
from provisioner.aws.stack import StackPhase, stack_phase
from provisioner.deletion_check.losses import refuse_losses
from provisioner.deletion_check.properties import DeletionCheckProperties
from provisioner.framework import log
from provisioner.framework.request import DONE, Accepted, Progress, Request
from provisioner.framework.retry import Clock
from provisioner.helm.client import REACH_PATIENCE_SECONDS, READ_SECONDS
from provisioner.kubernetes.connection import EksConnection


class DeletionCheck:
    """Handles `Custom::DeletionCheck`.

    Args:
        connection: Connects to the EKS cluster.
        cloudformation: Tells what the stack is doing.
    """

    def __init__(self, *, connection: EksConnection, cloudformation: CloudFormationApi) -> None:
        self._connection = connection
        self._cloudformation = cloudformation

    def on_event(self, request: Request, clock: Clock) -> Accepted:
        """Refuse the deletion of the stack if users would lose something."""
        properties = DeletionCheckProperties.parse(request.properties)
        if request.type == "Delete":
            phase = stack_phase(self._cloudformation, request.owner.stack_id, clock=clock)
            if phase is StackPhase.DELETING:
                refuse_losses(
                    properties,
                    owner=request.owner,
                    connection=self._connection,
                    clock=clock,
                    read_seconds=READ_SECONDS,
                    patience_seconds=REACH_PATIENCE_SECONDS,
                )
            else:
                log.info("the stack is not being deleted", phase=phase.name)
            return Accepted(physical_id=request.physical_id or properties.physical_id)
        return Accepted(physical_id=properties.physical_id)

    def is_complete(self, request: Request, clock: Clock) -> Progress:  # noqa: ARG002 - the protocol
        """Report success: `on_event` has done everything."""
        return DONE
