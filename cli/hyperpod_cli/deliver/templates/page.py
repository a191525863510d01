"""The page of the parameters."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_cli.deliver.templates.parameter import Parameter

_MOST_VALUES_SHOWN = 8
_HEADER = """# Parameters

Give them to `deploy.sh` as `Name=value`, or fill them in in the console. A deployment keeps the
values that its stacks have; only a changed one must be given again. A parameter that several stacks
have must be the same in all of them.
"""


def page(parameters: Sequence[Parameter], *, templates: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page, a table for each group."""
    lines = [_HEADER]
    group = ""
    for parameter in parameters:
        if parameter.group != group:
            group = parameter.group
            lines.append(f"\n## {group}\n\n| parameter | default | allowed | stacks | meaning |")
            lines.append("|---|---|---|---|---|")
        stacks = [name for name, body in templates.items() if parameter.name in body["Parameters"]]
        cells = [
            f"`{parameter.name}`",
            _default(parameter.definition),
            "; ".join(_limits(parameter.definition)),
            ", ".join(stacks),
            parameter.definition["Description"],
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _default(definition: Mapping[str, Any]) -> str:
    if "Default" not in definition:
        return "required"
    return f"`{definition['Default']}`" if definition["Default"] != "" else "empty"


def _limits(definition: Mapping[str, Any]) -> Iterator[str]:
    if values := definition.get("AllowedValues"):
        shown = ", ".join(f"`{value}`" for value in values[:_MOST_VALUES_SHOWN])
        more = len(values) - _MOST_VALUES_SHOWN
        yield f"{shown} and {more} more: the template lists them" if more > 0 else shown
    elif "MaxValue" in definition:
        yield f"{definition['MinValue']} to {definition['MaxValue']}"
    elif "AllowedPattern" in definition:
        yield f"`{definition['AllowedPattern']}`"
