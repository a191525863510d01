"""What a deployment will create, change and delete."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperpod_cdk.synthesis.node import node_folder
from hyperpod_cli.aws.assembly import Stack, construct_paths
from hyperpod_cli.aws.cdk_package import node_modules
from hyperpod_cli.aws.stacks import Deployed

_PROGRAM = Path(__file__).with_name("differences.cjs")
_COMPILED = Path("build/node-compile-cache")
_COLUMNS = "80"
# What users should not find out afterwards is named one by one, as far as it fits.
_NAMED = {
    "replaced": "replaces",
    "perhaps_replaced": "may replace",
    "deleted": "deletes",
    "kept": "leaves behind, without a stack,",
}
_COUNTED = {"created": "to create", "updated": "to update"}
_AT_MOST = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """What a deployment does to a stack.

    `resources` are the paths of their constructs, by what becomes of them. It `broadens` if anybody
    gets a permission, or an address a way in; `permissions` is the table of such changes.
    """

    name: str
    is_new: bool
    differs: bool
    resources: Mapping[str, Sequence[str]]
    broadens: bool = False
    permissions: str = ""


class IncomparableError(Exception):
    """The CDK cannot compare two templates; the text is what it says."""


def differences(
    stacks: Iterable[Stack], *, former: Mapping[str, Deployed | None]
) -> list[Difference]:
    """Compare stacks with what is deployed, as `cdk diff` does, or raise IncomparableError."""
    wanted = [*stacks]
    templates = {stack.name: getattr(former[stack.name], "template", {}) for stack in wanted}
    asked = [
        {"name": stack.name, "deployed": templates[stack.name], "wanted": stack.template}
        for stack in wanted
    ]
    done = subprocess.run(  # noqa: S603 - our own program
        [node_folder() / "node", _PROGRAM, (node_modules() / "aws-cdk" / "lib").absolute()],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": _COLUMNS, "NODE_COMPILE_CACHE": str(_COMPILED)},
    )
    if done.returncode != 0:
        raise IncomparableError(next(iter(done.stderr.strip().splitlines()[-1:]), "no reason"))
    return [
        _difference(found, stack=stack, former=templates[stack.name])
        for found, stack in zip(json.loads(done.stdout), wanted, strict=True)
    ]


def _difference(found: Mapping[str, Any], *, stack: Stack, former: Mapping[str, Any]) -> Difference:
    paths = {
        **(construct_paths(former) if former else {}),
        **construct_paths(stack.template),
    }
    return Difference(
        name=stack.name,
        is_new=not former,
        differs=found["differs"],
        resources={
            kind: sorted(paths.get(logical_id, logical_id) for logical_id in logical_ids)
            for kind, logical_ids in found["resources"].items()
        },
        broadens=found["broadens"],
        permissions=found["permissions"],
    )


def described(difference: Difference) -> Iterator[str]:
    """Yield the lines that tell what becomes of a stack."""
    if not difference.differs:
        yield f"{difference.name}: no change"
        return
    resources = difference.resources
    if difference.is_new:
        yield f"{difference.name}: new, {len(resources.get('created', ()))} resources"
        return
    counts = [
        f"{len(resources[kind])} {words}" for kind, words in _COUNTED.items() if resources.get(kind)
    ]
    destructive = [kind for kind in _NAMED if resources.get(kind)]
    yield f"{difference.name}: {', '.join(counts) or 'no resource to create or update'}"
    for kind in destructive:
        names = resources[kind]
        more = f" and {len(names) - _AT_MOST} more" if len(names) > _AT_MOST else ""
        yield f"  {_NAMED[kind]} {', '.join(names[:_AT_MOST])}{more}"
    if difference.broadens:
        yield "  broadens permissions:"
        yield from (f"  {line}" for line in difference.permissions.strip().splitlines()[1:])
