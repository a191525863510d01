"""Stacks as CloudFormation has them, and their outputs."""

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hyperpod_cdk.config.output_names import SHORTAGE
from hyperpod_cli.aws.session import AwsClient, answer_of, listed
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_shared.aws_errors import UNKNOWN_STACK

# A change set has made the stack, or what it had was rolled back.
EMPTY = ("REVIEW_IN_PROGRESS", "ROLLBACK_COMPLETE")
"""Statuses of a stack without resources."""
NOTHING_SHORT = "none"
"""What the output with the nodes that are missing says where none is."""
_OF_CDK = ("ExportsOutput", "PublishOutput")
# Names that create_config.sh of the HyperPod workshop asks for, in addition to the plain ones.
_ALIAS = "Output"
_NAME_WIDTH, _LINE_WIDTH = 26, 80


class UnreadableTemplateError(Exception):
    """A stack was deployed with a template that is not JSON, so not by the CDK CLI."""

    def __init__(self, name: str, stack: "Deployed") -> None:
        super().__init__(f"the template of {name} is not JSON")
        self.stack = stack


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployed:
    """A stack as it is.

    Attributes:
        template: Its template; empty for a stack without resources.
        tags: Its tags, which its resources have, too.
        is_foreign: Whether it is of something else, though it has the name of a wanted stack.
    """

    status: str
    template: Mapping[str, Any]
    parameters: Mapping[str, str] = field(default_factory=dict)
    is_protected: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)
    is_foreign: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class DeployedResource:
    """A resource of a stack."""

    logical_id: str
    physical_id: str
    type: str


def deployed(client: AwsClient, name: str) -> Deployed | None:
    """Return a stack as it is; None if there is none. UnreadableTemplateError: it has no JSON."""
    stack = described_stack(client, name)
    if stack is None:
        return None
    there = Deployed(
        status=stack["StackStatus"],
        template={},
        is_protected=stack.get("EnableTerminationProtection", False),
        tags={each["Key"]: each["Value"] for each in stack.get("Tags", [])},
    )
    if there.status in EMPTY:
        return there
    body = _template_body(client, name)
    if body is None:
        return None
    # botocore reads JSON by itself.
    if isinstance(body, str):
        raise UnreadableTemplateError(name, there)
    parameters = {
        each["ParameterKey"]: each["ParameterValue"] for each in stack.get("Parameters", [])
    }
    return replace(there, template=body, parameters=parameters)


def resources_of(client: AwsClient, name: str) -> Iterator[DeployedResource]:
    """Yield the resources that a stack has."""
    for summary in listed(client, "list_stack_resources", "StackResourceSummaries", StackName=name):
        if summary["ResourceStatus"] != "DELETE_COMPLETE":
            yield DeployedResource(
                logical_id=summary["LogicalResourceId"],
                physical_id=summary.get("PhysicalResourceId", ""),
                type=summary["ResourceType"],
            )


def template_of(client: AwsClient, name: str) -> Mapping[str, Any]:
    """Return the template that a stack was deployed with; empty without one that is JSON."""
    body = _template_body(client, name)
    # botocore reads JSON by itself; the CDK CLI deploys nothing else.
    return body if isinstance(body, Mapping) else {}


def _template_body(client: AwsClient, name: str) -> Any:  # noqa: ANN401 - JSON, or text
    asked = {"StackName": name, "TemplateStage": "Original"}
    answer = answer_of(client.get_template, UNKNOWN_STACK, **asked)
    # The text of botocore's ordered dictionaries is not that of a template to compare with.
    return None if answer is None else json.loads(json.dumps(answer["TemplateBody"]))


def described_stack(cloudformation: AwsClient, stack: str) -> Mapping[str, Any] | None:
    """Return a stack as CloudFormation describes it; None if there is none."""
    answer = answer_of(cloudformation.describe_stacks, UNKNOWN_STACK, StackName=stack)
    return None if answer is None else answer["Stacks"][0]


def outputs_of(cloudformation: AwsClient, stack: str) -> dict[str, str]:
    """Return the outputs of a stack by name; refuse one of which nothing is deployed."""
    described = described_stack(cloudformation, stack)
    if described is None or not described.get("Outputs"):
        region = cloudformation.meta.region_name
        raise OpsError(
            f"stack: {stack} is not deployed in {region}; run `hyperpod-cdk deploy`, or give "
            "another region"
        )
    return outputs_in(described)


def outputs_in(described: Mapping[str, Any]) -> dict[str, str]:
    """Return the outputs of a stack, as CloudFormation describes it, by name."""
    return {each["OutputKey"]: each["OutputValue"] for each in described.get("Outputs", ())}


def documented_outputs(described: Mapping[str, Any]) -> dict[str, str]:
    """Return the outputs of a stack that people look up, without CDK's own."""
    outputs = outputs_in(described).items()
    return {name: value for name, value in outputs if not name.startswith(_OF_CDK)}


def output_lines(outputs: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield the lines that show outputs; a stack without any has none.

    Missing nodes are left to what is said after the outputs.
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
