"""What a pipeline must not do to a stack, and what whoever approves should know."""

from collections.abc import Iterator
from dataclasses import dataclass

from hyperpod_cli.aws.deployed import Deployed
from hyperpod_cli.deliver.pipeline.stage import StageStack
from hyperpod_cli.stack_progress.fixed_values import changes

# What an operator must do before CloudFormation updates a stack of such a status again.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
_STUCK = {
    "ROLLBACK_COMPLETE": "delete-stack",
    "ROLLBACK_FAILED": "delete-stack",
    "UPDATE_ROLLBACK_FAILED": "continue-update-rollback",
}


def refusals(stack: StageStack, found: Deployed | None) -> Iterator[str]:
    """Yield why CloudFormation must not, or could not, update a stack; one line each."""
    if found is None:
        return
    if found.status in _STUCK:
        yield (
            f"{stack.name}: is in {found.status}, and CloudFormation updates it no more; its "
            f"events say why; then retry this stage after: aws cloudformation "
            f"{_STUCK[found.status]} --stack-name {stack.name} --region {stack.region}"
        )
        return
    for change in changes(stack.template, parameters=found.parameters):
        yield f"{stack.name}: {change}"


def is_unprotected(stack: StageStack, found: Deployed | None) -> bool:
    """Tell whether a stack lacks its termination protection, which CodePipeline does not set."""
    return stack.is_protected and found is not None and not found.is_protected


@dataclass(frozen=True, kw_only=True, slots=True)
class Review:
    """What a deployment would do to an environment.

    Attributes:
        environment: Its name.
        created: Names of the stacks that are not there yet.
        changed: Names of the stacks whose template changes.
        unprotected: Names of the stacks that lack their termination protection.
        broadens_permissions: Whether somebody would be allowed more than now.
        destroys: Whether resources would be replaced or deleted.
    """

    environment: str
    created: tuple[str, ...]
    changed: tuple[str, ...]
    unprotected: tuple[str, ...]
    broadens_permissions: bool
    destroys: bool

    def __str__(self) -> str:
        """Return it for whoever approves, in less than what an approval shows."""
        does = [
            f"creates {', '.join(self.created)}" if self.created else "",
            f"changes {', '.join(self.changed)}" if self.changed else "",
            "" if self.created or self.changed else "changes nothing",
        ]
        warnings = [
            "PERMISSIONS BROADEN." if self.broadens_permissions else "",
            "RESOURCES ARE REPLACED OR DELETED." if self.destroys else "",
            (
                f"Without termination protection: {', '.join(self.unprotected)}."
                if self.unprotected
                else ""
            ),
        ]
        text = "; ".join(filter(None, does))
        return " ".join(filter(None, [f"{self.environment}: {text}.", *warnings]))
