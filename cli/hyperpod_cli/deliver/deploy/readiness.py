"""Whether stacks can be deployed in the status that they are in."""

from collections.abc import Iterator, Mapping

from hyperpod_cli.aws.stacks import Deployed
from hyperpod_cli.stack_progress.next_steps import Situation, next_step

# The CLI deletes a stack whose creation failed, and a change set has touched nothing.
_DEPLOYABLE = ("REVIEW_IN_PROGRESS", "ROLLBACK_FAILED")


def refusals(stacks: Mapping[str, Deployed | None], *, region: str, again: str) -> Iterator[str]:
    """Yield a line for each stack that CloudFormation would not take a deployment for.

    Args:
        stacks: What is deployed, by name of the stack.
        region: Region of the stacks.
        again: Command that was run.
    """
    for name, stack in stacks.items():
        if stack is None or stack.status in _DEPLOYABLE or stack.status.endswith("_COMPLETE"):
            continue
        step = next_step(Situation(stack=name, region=region, status=stack.status, again=again))
        yield f"{name}: is {stack.status}. {step.meaning} Run: {'; '.join(step.commands)}"
