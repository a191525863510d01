"""What CloudFormation makes of a template: values, types, names and exports.

- Conditions may have Fn::Split inside Fn::Select; MiniStack's have Fn::Select alone, over a list.
- The refusal of a parameter that Systems Manager lacks is worded as in
  https://github.com/aws-samples/aws-cross-account-cicd-pipeline/issues/40.
- Of HyperPod's types, CloudFormation publishes the schema by region; the settings name the regions:
  https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/resource-type-schemas.html
- CloudFormation takes nothing over that has a name. MiniStack puts some new resources into the
  old one's place; https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateRole.html and
  https://docs.aws.amazon.com/kms/latest/APIReference/API_CreateAlias.html have the errors.
- A stack keeps the exports that other stacks import, and no two stacks export one name:
  https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html
"""

import re
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any

from hyperpod_emulator.aws.cloudformation.resource_type import Properties, check_creation
from hyperpod_emulator.aws.ministack import (
    Response,
    changesets,
    cloudformation,
    cloudwatch_logs,
    engine,
    get_region,
    handlers,
    iam,
    kms,
    provisioners,
    stacks,
    wrap,
)
from hyperpod_emulator.aws.refused import Refused
from hyperpod_emulator.aws.settings import own_settings


def install() -> None:
    """Evaluate, check and refuse in a template what CloudFormation does."""
    handlers._ACTION_HANDLERS["DescribeType"] = _describe
    _check("AWS::IAM::Role", "RoleName", lambda name: name in iam._roles)
    _check("AWS::KMS::Alias", "AliasName", lambda name: kms._alias_arn(name) in kms._aliases)
    _check("AWS::Logs::LogGroup", "LogGroupName", lambda name: name in cloudwatch_logs._log_groups)
    # Each has imported them by name.
    for module in (changesets, handlers):
        wrap(module, "validate_template_support", _validate_in_region)
        wrap(module, "_resolve_parameters", _resolve_parameters)
    for evaluating in (changesets, engine, handlers, stacks):
        wrap(evaluating, "_evaluate_conditions", _evaluate_conditions)
    wrap(stacks, "_resolve_stack_outputs", _resolve_stack_outputs)
    wrap(handlers._ACTION_HANDLERS, "DeleteStack", _delete)


def _text(node: object, parameters: Mapping[str, Any]) -> object:
    """Return the value of what is split: a text, a parameter, or a part of something split."""
    match node:
        case {"Ref": str(name)} if name in parameters:
            return parameters[name]["Value"]
        case {"Fn::Select": [index, items]}:
            chosen = _split(items, parameters)
            number = int(str(_text(index, parameters)))
            return engine._select(number, chosen) if isinstance(chosen, list) else node
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


def _evaluate_conditions(
    evaluate: Callable[..., dict[str, bool]],
    template: Mapping[str, Any],
    parameters: Mapping[str, Any],
) -> dict[str, bool]:
    conditions = _split(template.get("Conditions") or {}, parameters)
    return evaluate({**template, "Conditions": conditions}, parameters)


_ABSENT = re.compile(r"SSM parameter '(?P<name>[^']+)' does not exist")


def _resolve_parameters(
    resolve: Callable[..., dict[str, Any]], *arguments: Any, **options: Any
) -> dict[str, Any]:
    try:
        return resolve(*arguments, **options)
    except ValueError as error:
        absent = _ABSENT.search(str(error))
        if absent is None:
            raise
        message = f"Unable to fetch parameters [{absent['name']}] from parameter store"
        raise ValueError(f"{message} for this account.") from error


def is_offered(resource_type: str) -> bool:
    """Return whether the request's region has a resource type."""
    known = resource_type in provisioners._RESOURCE_HANDLERS
    regions = own_settings().regional_types.get(resource_type)
    return known and (regions is None or get_region() in regions)


def _validate_in_region(
    validate: Callable[..., None], template: Mapping[str, Any], *rest: Any, **options: Any
) -> None:
    used = {each.get("Type") for each in template.get("Resources", {}).values()}
    regional = used & own_settings().regional_types.keys()
    absent = sorted(name for name in regional if not is_offered(name))
    if absent:
        raise ValueError(
            f"Template format error: Unrecognized resource types: [{', '.join(absent)}]"
        )
    validate(template, *rest, **options)


def _describe(params: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a response of MiniStack
    name = handlers._p(params, "TypeName")
    if not is_offered(name):
        return handlers._error("TypeNotFoundException", f"The type '{name}' cannot be found.")
    return handlers._xml(
        HTTPStatus.OK,
        "DescribeTypeResponse",
        f"<DescribeTypeResult><Type>RESOURCE</Type><TypeName>{name}</TypeName>"
        "<Visibility>PUBLIC</Visibility></DescribeTypeResult>",
    )


def _check(resource_type: str, key: str, is_taken: Callable[[str], bool]) -> None:
    def check(properties: Properties) -> None:
        name = properties.get(key)
        if name and is_taken(name):
            raise Refused(
                f"Resource of type '{resource_type}' with identifier '{name}' already exists."
            )

    check_creation(resource_type, check)


def _importers(export_name: str, *, exporter: str) -> list[str]:
    """Return the names of the other stacks that import a value."""
    return sorted(
        name
        for name, stack in cloudformation._stacks.items()
        if name != exporter
        and stack.get("StackStatus") not in ("DELETE_COMPLETE", "REVIEW_IN_PROGRESS")
        and export_name in handlers._imported_export_names(stack, name)
    )


def _exports_of(stack_id: str) -> dict[str, Any]:
    return {
        name: export["Value"]
        for name, export in cloudformation._exports.items()
        if export["StackId"] == stack_id
    }


def _require_unused(
    names: Iterable[str], *, exports: Mapping[str, Mapping[str, Any]], stack: str
) -> None:
    for name in names:
        users = ", ".join(_importers(name, exporter=stack))
        if users:
            # https://repost.aws/knowledge-center/cloudformation-stack-export-name-error
            verb = "updated" if name in exports else "deleted"
            raise Refused(f"Export {name} cannot be {verb} as it is in use by {users}")


def _resolve_stack_outputs(
    resolve: Callable[..., tuple[list[Any], dict[str, Any]]], *arguments: Any
) -> tuple[list[Any], dict[str, Any]]:
    stack_name, stack_id = arguments[-2:]
    outputs, exports = resolve(*arguments)
    for name in exports:
        other = cloudformation._exports.get(name)
        if other is not None and other["StackId"] != stack_id:
            exporter = other["StackId"].split("/")[1]
            raise Refused(f"Export with name {name} is already exported by stack {exporter}")
    before = _exports_of(stack_id)
    changed = [
        name for name, value in before.items() if exports.get(name, {}).get("Value") != value
    ]
    _require_unused(changed, exports=exports, stack=stack_name)
    # MiniStack calls this last of all that can fail; it adds the new exports itself.
    for name in before.keys() - exports.keys():
        cloudformation._exports.pop(name, None)
    return outputs, exports


def _delete(delete_stack: Callable[..., Response], params: Mapping[str, Any]) -> Response:
    stack = handlers._resolve_stack(handlers._p(params, "StackName"))
    refusal = None if stack is None else _delete_refusal(stack)
    if stack is None or refusal is None:
        return delete_stack(params)
    # The request succeeds, and the stack stays in the state in which it is:
    # https://github.com/rlister/stax/issues/40
    stacks._add_event(
        stack["StackId"],
        stack["StackName"],
        stack["StackName"],
        "AWS::CloudFormation::Stack",
        stack["StackStatus"],
        refusal,
        stack["StackId"],
    )
    return handlers._xml(HTTPStatus.OK, "DeleteStackResponse", "")


def _delete_refusal(stack: Mapping[str, Any]) -> str | None:
    """Return why a stack cannot be deleted, or None."""
    if stack.get("EnableTerminationProtection") or stack["StackStatus"].startswith("DELETE_"):
        return None
    for name in _exports_of(stack["StackId"]):
        users = ", ".join(_importers(name, exporter=stack["StackName"]))
        if users:
            # https://github.com/aws-samples/iam-identity-center-team/pull/474
            return f"Delete canceled. Cannot delete export {name} as it is in use by {users}."
    return None
