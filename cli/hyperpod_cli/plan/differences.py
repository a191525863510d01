"""What a deployment will create, change and delete, as the CDK CLI finds it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperpod_cdk.effects.effect import StackState
from hyperpod_cdk.synthesis.node import node_folder
from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.cdk_package import node_modules

_PROGRAM = Path(__file__).with_name("differences.cjs")
_COMPILED = Path("build/node-compile-cache")


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """What a deployment does to a stack.

    `resources` are their logical IDs, by what becomes of them; `permissions`, what somebody may do
    then and may not now, or through which ways in.
    """

    name: str
    differs: bool
    resources: Mapping[str, Sequence[str]]
    permissions: Sequence[Mapping[str, Any]] = ()


class IncomparableError(Exception):
    """The CDK cannot compare two templates; the text is what it says."""


def differences(stacks: Iterable[Stack], *, before: Mapping[str, StackState]) -> list[Difference]:
    """Compare stacks with the templates that they have, as `cdk diff` does.

    Raises:
        IncomparableError: The CDK cannot compare them.
    """
    asked = [
        {"name": stack.name, "deployed": before[stack.name].template, "wanted": stack.template}
        for stack in stacks
    ]
    done = subprocess.run(  # noqa: S603 - our own program
        [node_folder() / "node", _PROGRAM, (node_modules() / "aws-cdk" / "lib").absolute()],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NODE_COMPILE_CACHE": str(_COMPILED)},
    )
    if done.returncode != 0:
        raise IncomparableError(next(iter(done.stderr.strip().splitlines()[-1:]), "no reason"))
    return [Difference(**row) for row in json.loads(done.stdout)]
