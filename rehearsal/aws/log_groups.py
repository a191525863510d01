"""CloudWatch Logs: groups are made once, by CloudFormation or by a service that writes to them."""

from http import HTTPStatus
from typing import Any

from ministack.services import cloudwatch_logs
from ministack.services.cloudformation import provisioners

from rehearsal.aws.cloudformation.resource_type import Refused

_TYPE = "AWS::Logs::LogGroup"


def make_for_service(name: str) -> None:
    """Create a group as a service does that writes to one: if it is not there, without an end."""
    if name not in cloudwatch_logs._log_groups:
        response = cloudwatch_logs._create_log_group({"logGroupName": name})
        if response[0] >= HTTPStatus.BAD_REQUEST:
            raise Refused(f"CloudWatch Logs refused {name}: {response[2]!r}")


def install() -> None:
    """Have CloudFormation refuse a group that exists, as `CreateLogGroup` does.

    https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_CreateLogGroup.html
    """
    handlers = provisioners._RESOURCE_HANDLERS[_TYPE]
    unchecked = handlers["create"]

    def create(
        logical_id: str, properties: dict[str, Any], stack_name: str
    ) -> tuple[str, dict[str, Any]]:
        name = properties.get("LogGroupName")
        if name in cloudwatch_logs._log_groups:
            raise Refused(f"Resource of type '{_TYPE}' with identifier '{name}' already exists.")
        created: tuple[str, dict[str, Any]] = unchecked(logical_id, properties, stack_name)
        return created

    handlers["create"] = create
