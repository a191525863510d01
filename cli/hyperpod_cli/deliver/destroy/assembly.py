"""A cloud assembly for the deletion of stacks that none synthesizes any more."""

import json
from collections.abc import Sequence
from pathlib import Path

from hyperpod_cli.aws.assembly import Stack


def write_assembly(folder: Path, *, stacks: Sequence[Stack], like: Path) -> None:
    """Write an assembly of stacks by name, in the place and with the roles of another's.

    To delete a stack, the CDK CLI looks at nothing else.
    """
    manifest = json.loads((like / "manifest.json").read_text("utf-8"))
    names = {stack.name for stack in stacks}
    artifacts = manifest["artifacts"].values()
    sample = next(each for each in artifacts if each["type"] == "aws:cloudformation:stack")
    for stack in stacks:
        (folder / f"{stack.name}.json").write_text(json.dumps(stack.template), "utf-8")
    manifest["artifacts"] = {
        stack.name: {
            **{key: sample[key] for key in ("type", "environment")},
            "displayName": stack.name,
            "dependencies": [each for each in stack.needs if each in names],
            "properties": {
                **sample["properties"],
                "templateFile": f"{stack.name}.json",
                "stackName": stack.name,
            },
        }
        for stack in stacks
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
