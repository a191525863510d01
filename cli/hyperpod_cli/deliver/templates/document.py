"""A template as it is published, and the page of its parameters."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_cli.deliver.templates.parameter import Parameter, Rules
from hyperpod_cli.deliver.templates.parameters import DEPLOYMENT_NAME, PLACEHOLDER

Document = dict[str, Any]

_SECTIONS = (
    "AWSTemplateFormatVersion",
    "Description",
    "Metadata",
    "Parameters",
    "Rules",
    "Mappings",
    "Conditions",
    "Resources",
    "Outputs",
)
_NAME = f"${{{DEPLOYMENT_NAME}}}"
_FIXED_VALUES = "Held from the creation of the stack: pass no value"


def published(
    template: Document, *, parameters: Sequence[Parameter], rules: Rules, version: str
) -> Document:
    """Return a template as it is published, with the parameters and rules that it needs."""
    named = _with_parameter_for_name(template)
    used = set(_references(named))
    own = [parameter for parameter in parameters if parameter.name in used]
    names = {parameter.name for parameter in own}
    held = named.get("Parameters", {})
    document = {
        **named,
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": f"{named['Description']} (hyperpod-cdk {version})",
        "Metadata": {"AWS::CloudFormation::Interface": _interface(own, held=list(held))},
        "Parameters": {**{each.name: dict(each.definition) for each in own}, **held},
        "Rules": {
            **{
                name: rule
                for name, rule in rules.items()
                if {found for found in _references(rule) if "::" not in found} <= names
            },
            **named.get("Rules", {}),
        },
        "Conditions": {
            **{
                each.condition: {"Fn::Not": [{"Fn::Equals": [{"Ref": each.name}, ""]}]}
                for each in own
                if each.condition is not None
            },
            **named.get("Conditions", {}),
        },
    }
    return {section: document[section] for section in _SECTIONS if document.get(section)}


def _with_parameter_for_name(template: Document) -> Document:
    # The CDK puts the name into the logical ids of a security group's rules too.
    ids = {name: name.replace(PLACEHOLDER, "") for name in template["Resources"]}
    return {
        section: _named(body, ids=ids) if section in ("Resources", "Outputs") else body
        for section, body in template.items()
    }


def _named(node: Any, *, ids: Mapping[str, str]) -> Any:  # noqa: ANN401 - any JSON value
    """Put the parameter in place of the deployment's name in every text."""
    match node:
        case dict():
            return {ids.get(key, key): _named(item, ids=ids) for key, item in node.items()}
        case list():
            return [_named(item, ids=ids) for item in node]
        case str() if node not in ids and PLACEHOLDER in node:
            return {"Fn::Sub": node.replace("${", "${!").replace(PLACEHOLDER, _NAME)}
    return ids.get(node, node) if isinstance(node, str) else node


def _references(node: object) -> Iterator[str]:
    """Yield every name that a template refers to."""
    if isinstance(node, Mapping):
        for key, item in node.items():
            if key == "Ref":
                yield item
            elif key == "Fn::Sub":
                text = item if isinstance(item, str) else item[0]
                yield from re.findall(r"\$\{([^!}][^}]*)\}", text)
            yield from _references(item)
    elif isinstance(node, list):
        for item in node:
            yield from _references(item)


def _interface(parameters: Sequence[Parameter], *, held: Sequence[str]) -> Document:
    groups: dict[str, list[str]] = {}
    for parameter in parameters:
        groups.setdefault(parameter.group, []).append(parameter.name)
    if held:
        groups[_FIXED_VALUES] = list(held)
    return {
        "ParameterGroups": [
            {"Label": {"default": label}, "Parameters": names} for label, names in groups.items()
        ],
        "ParameterLabels": {each.name: {"default": each.label} for each in parameters},
    }


def as_json(document: Document) -> str:
    """Return JSON in which `deploy.sh` finds keys by their indentation."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


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
