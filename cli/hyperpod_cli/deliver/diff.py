"""Shows what a deployment would change: in the words of its plan, then each property."""

import sys
from collections.abc import Iterator
from pathlib import Path

from hyperpod_cli.plan.plan import Plan, make_plan
from hyperpod_cli.plan.properties import property_lines
from hyperpod_cli.plan.request import DeploymentRequest
from hyperpod_cli.terminal.console import print_json


def show_changes(path: Path, *, templates: Path, as_json: bool) -> None:
    """Print what a deployment of all stacks would do, for people or as JSON."""
    plan = make_plan(DeploymentRequest(path=path, templates=templates, command="diff"))
    if as_json:
        print_json(plan.as_json(path))
        return
    if plan.unknown:
        print(plan.unknown, file=sys.stderr)
    print("\n".join(changes_in_full(plan)))


def changes_in_full(plan: Plan) -> Iterator[str]:
    """Yield the lines of a plan, then the properties that change of stacks that are there."""
    yield from plan.lines()
    for stack in plan.stacks:
        former = plan.before[stack.name].template if stack.name in plan.before else {}
        if former and stack.name not in plan.unchanged:
            yield ""
            yield f"{stack.name}, property by property:"
            yield from (f"  {line}" for line in property_lines(former, stack.template))
