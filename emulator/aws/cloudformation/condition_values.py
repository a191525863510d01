"""Fn::Split in conditions: a template may compare a part of a parameter.

https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-split.html
has it inside Fn::Select; MiniStack's conditions have Fn::Select alone, over a list.
"""

from collections.abc import Mapping
from typing import Any

from emulator.aws.ministack import changesets, engine, handlers, stacks


def _text(node: object, parameters: Mapping[str, Any]) -> object:
    """Return the value of what is split: a text, a parameter, or a part of something split."""
    match node:
        case {"Ref": str(name)} if name in parameters:
            return parameters[name]["Value"]
        case {"Fn::Select": [index, items]}:
            chosen = _split(items, parameters)
            number = int(str(_text(index, parameters)))
            return engine.select(number, chosen) if isinstance(chosen, list) else node
        case _:
            return node


def _split(node: object, parameters: Mapping[str, Any]) -> object:
    """Return a part of a condition with each Fn::Split in it done."""
    match node:
        case {"Fn::Split": [separator, text]}:
            return str(_text(text, parameters)).split(str(separator))
        case dict():
            return {key: _split(value, parameters) for key, value in node.items()}
        case list():
            return [_split(value, parameters) for value in node]
        case _:
            return node


def install() -> None:
    """Do what is split before MiniStack evaluates the conditions."""
    evaluate = engine.evaluate_conditions

    def evaluate_conditions(
        template: Mapping[str, Any], parameters: Mapping[str, Any]
    ) -> dict[str, bool]:
        conditions = _split(template.get("Conditions") or {}, parameters)
        evaluated: dict[str, bool] = evaluate({**template, "Conditions": conditions}, parameters)
        return evaluated

    # Each has imported it by name.
    for module in (changesets, engine, handlers, stacks):
        module.evaluate_conditions = evaluate_conditions
