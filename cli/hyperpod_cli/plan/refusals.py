"""Refuses, before anything changes, what AWS would refuse, or in the middle of an update."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from hyperpod_cli.aws.assembly import Stack, Value
from hyperpod_cli.aws.stacks import Deployed
from hyperpod_cli.stack_progress import fixed_values
from hyperpod_cli.stack_progress.failures import Situation, next_step
from hyperpod_cli.stack_progress.fixed_values import FixedValueChange
from hyperpod_cli.stack_progress.terminal import FAILED_CREATIONS
from hyperpod_cli.terminal.options import command_line
from hyperpod_stacks.table import DEPLOYMENT_TAG, NODES

# The CLI deletes a stack whose creation failed, and a change set has touched nothing.
_DEPLOYABLE = ("REVIEW_IN_PROGRESS", "ROLLBACK_FAILED")


def refused_stacks(
    stacks: Mapping[str, Deployed | None], *, region: str, again: str
) -> Iterator[str]:
    """Yield a line for each stack that is of something else, or takes no deployment."""
    for name, stack in stacks.items():
        if stack is not None and stack.is_foreign:
            yield foreign_stack(name, stack)
            continue
        if stack is None or stack.status in _DEPLOYABLE or stack.status.endswith("_COMPLETE"):
            continue
        step = next_step(Situation(stack=name, region=region, status=stack.status, again=again))
        yield f"{name}: is {stack.status}. {step.meaning} Run: {'; '.join(step.commands)}"


def missed_exports(
    stacks: Sequence[Stack], *, there: Mapping[str, Deployed | None], file: Path
) -> Iterator[str]:
    """Yield a line for each stack that imports what a deployment would export no more.

    CloudFormation refuses to take an export away that another stack imports, and those that a
    configuration has come after the one that exports, those that it has no more stay as they are.
    """
    wanted = {stack.name for stack in stacks}
    going = {
        export: stack.name
        for stack in stacks
        if (former := there[stack.name]) is not None
        for export in {*export_names(former.template)} - {*export_names(stack.template)}
    }
    for name, stack in there.items():
        imported = () if stack is None else import_names(stack.template)
        missed = sorted({going[each] for each in imported if each in going})
        if missed:
            if name in wanted:
                way = command_line("deploy", file, "--only", name, "--exclusively")
            elif name.endswith(tuple(f"-{kind}" for kind in NODES)):
                way = command_line("destroy", file)
            else:
                way = f"aws cloudformation delete-stack --stack-name {name}"
            yield (
                f"{name}: imports from {' and '.join(missed)} what would be exported no more, "
                f"which CloudFormation refuses. First run: {way}"
            )


def foreign_stack(name: str, stack: Deployed) -> str:
    """Return the refusal of a stack that is of something else: a deployment would overwrite it."""
    what = stack.tags.get(DEPLOYMENT_TAG) or stack.template.get("Description")
    return (
        f"{name}: is the stack of something else{f' ({what})' if what else ''}, and a deployment "
        "would overwrite it; choose another `name` in the configuration, or delete that stack"
    )


def changed_fixed_values(
    stacks: Iterable[Stack], *, former: Mapping[str, Deployed | None]
) -> Iterator[FixedValueChange]:
    """Yield the values of deployed stacks that would change and cannot.

    A stack whose creation failed is deleted first, with the values that it had.
    """
    for stack in stacks:
        there = former[stack.name]
        if there is not None and there.status not in FAILED_CREATIONS:
            yield from fixed_values.changes(stack.template, parameters=there.parameters)


def export_names(template: Mapping[str, Value]) -> Iterator[str]:
    """Yield the names of what a stack exports."""
    for output in template.get("Outputs", {}).values():
        if "Export" in output:
            yield output["Export"]["Name"]


def import_names(value: Value) -> Iterator[str]:
    """Yield the names of what a template, or a part of one, imports."""
    match value:
        case {"Fn::ImportValue": str(name)}:
            yield name
        case Mapping():
            for item in value.values():
                yield from import_names(item)
        case list():
            for item in value:
                yield from import_names(item)
