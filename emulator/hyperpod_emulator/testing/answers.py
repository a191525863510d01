"""Every answer that a test gets from the local AWS is one of botocore's model of its operation."""

import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from botocore.awsrequest import AWSResponse
from botocore.model import OperationModel, StructureShape
from botocore.response import StreamingBody

from hyperpod_emulator.aws.local_aws import AwsClients
from hyperpod_emulator.hyperpod.service_model import violations_of

_FIRST_ERROR = 300
_JSON = frozenset({"json", "rest-json"})
KNOWN = (
    # MiniStack shows a description that there is not as an empty one.
    r"cloudformation\.\w+: Value '' at '[\w.]*description' .* length greater than or equal to 1",
    # CodeBuild lists projects that there are not as none.
    r"codebuild\.BatchGetProjects: Value '\[\]' at 'projectsNotFound' .* length greater than",
    # A stack's own events have the stack's statuses, of which the model has some.
    r"cloudformation\.DescribeStackEvents: Value '(REVIEW|\w+_CLEANUP)_IN_PROGRESS' at .* enum",
    # MiniStack shows what it does not warm.
    r"dynamodb\.\w+: Value '0' at '[\w.]*warmThroughput\.\w+' .* greater than or equal to 1",
    # EKS shows tags that there are not as an empty mapping.
    r"eks\.\w+: Value '\{\}' at '[\w.]*tags' .* length greater than or equal to 1",
    # EC2 answers in lower case, whatever its model says.
    r"ec2\.(Create|Describe)VpcEndpoints?: Value 'available' at '[\w.]*state' .* enum",
    # An attached internet gateway is available, as the attribute's description says.
    # https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InternetGatewayAttachment.html
    r"ec2\.DescribeInternetGateways: Value 'available' at '[\w.]*state' .* enum",
)
"""What is not as in the model, and is left so."""


def check_answers(client: Any) -> None:  # noqa: ANN401 - a client
    """Let a client fail with AssertionError at an answer that its model does not have."""
    client.meta.events.register("after-call", _check)


def checked(clients: AwsClients) -> AwsClients:
    """Return what makes such clients."""
    seen: set[str] = set()

    def client(service: str) -> Any:  # noqa: ANN401 - a client
        made = clients(service)
        if service not in seen:
            seen.add(service)
            check_answers(made)
        return made

    return client


def _check(
    http_response: AWSResponse, parsed: dict[str, Any], model: OperationModel, **_: object
) -> None:
    shape = model.output_shape
    if shape is None or http_response.status_code >= _FIRST_ERROR:
        return
    name = f"{model.service_model.service_name}.{model.name}"
    answer = {key: value for key, value in parsed.items() if key != "ResponseMetadata"}
    found = [f"{name}: {violation}" for violation in violations_of(shape, _plain(answer))]
    found += [f"{name}: unknown member {key}" for key in _unknown(shape, http_response, model)]
    wrong = [text for text in found if not any(re.match(known, text) for known in KNOWN)]
    if wrong:
        raise AssertionError("\n".join(wrong))


def _unknown(
    shape: StructureShape, http_response: AWSResponse, model: OperationModel
) -> Iterator[str]:
    """Yield the members of a JSON answer that the model lacks: botocore drops them."""
    if model.has_streaming_output or model.service_model.protocol not in _JSON:
        return
    for violation in violations_of(shape, json.loads(http_response.content or b"{}")):
        if violation.constraint.startswith("Member must be one of"):
            yield violation.path


def _plain(value: object) -> object:
    """Return a parsed answer as it is in JSON."""
    match value:
        case dict():
            return {
                # botocore decodes the policies of IAM.
                key: json.dumps(item) if key.endswith("PolicyDocument") else _plain(item)
                for key, item in value.items()
            }
        case list():
            return [_plain(item) for item in value]
        case datetime():
            return value.timestamp()
        case bytes() | StreamingBody():
            return ""
    return value
