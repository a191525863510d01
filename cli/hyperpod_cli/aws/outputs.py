"""The outputs of stacks, each value once."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hyperpod_cdk.config.output_names import SHORTAGE

NOTHING_SHORT = "none"
"""What the output with the nodes that are missing says where none is."""
_OF_CDK = ("ExportsOutput", "PublishOutput")
# Names that create_config.sh of the HyperPod workshop asks for, beside the plain ones.
_ALIAS = "Output"
_NAME_WIDTH, _LINE_WIDTH = 26, 80


def documented_outputs(described: Mapping[str, Any]) -> dict[str, str]:
    """Return the outputs of a stack that people look up, without CDK's own.

    Args:
        described: The stack as DescribeStacks describes it.
    """
    return {
        output["OutputKey"]: output["OutputValue"]
        for output in described.get("Outputs", [])
        if not output["OutputKey"].startswith(_OF_CDK)
    }


def output_lines(outputs: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield the lines that show outputs; a stack without any has none.

    Missing nodes are left to what is said after the outputs.

    Args:
        outputs: Outputs of each stack.
    """
    for stack, values in outputs.items():
        shown = {
            name: value
            for name, value in values.items()
            if not is_repeated(name, values) and (name != SHORTAGE or value == NOTHING_SHORT)
        }
        if not shown:
            continue
        yield f"\nOutputs of {stack}"
        for name, value in shown.items():
            yield from _lines(name, value)


def is_repeated(name: str, values: Mapping[str, str]) -> bool:
    """Return whether an output is another name of one that is shown."""
    others = {value for other, value in values.items() if not other.startswith(_ALIAS)}
    return name.startswith(_ALIAS) and values[name] in others


def _lines(name: str, value: str) -> Iterable[str]:
    if value.startswith("aws "):
        # A command goes below its name, to be copied as it stands.
        indent = "    "
        words = textwrap.wrap(
            value,
            _LINE_WIDTH - len(f"{indent}  \\"),
            break_long_words=False,
            break_on_hyphens=False,
        )
        continued = " \\\n".join([f"{indent}{words[0]}", *(f"{indent}  {x}" for x in words[1:])])
        return [f"  {name}", *continued.splitlines()]
    first, *others = value.splitlines() or [""]
    return [
        f"  {name:{_NAME_WIDTH}} {first}",
        *(f"  {'':{_NAME_WIDTH}} {other}" for other in others),
    ]
