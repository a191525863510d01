"""CloudWatch Logs: groups are made once, by CloudFormation or by a service that writes to them."""

from http import HTTPStatus
from typing import Any

from emulator.aws import kms_keys
from emulator.aws.cloudformation.resource_type import Refused
from emulator.aws.kms_keys import refuse_logs
from emulator.aws.ministack import cloudwatch_logs, get_account_id, get_region, provisioners

_TYPE = "AWS::Logs::LogGroup"


def make_for_service(name: str) -> None:
    """Create a group as a service does that writes to one: if it is not there, without an end."""
    if name not in cloudwatch_logs.log_groups:
        response = cloudwatch_logs.create_log_group({"logGroupName": name})
        if response[0] >= HTTPStatus.BAD_REQUEST:
            raise Refused(f"CloudWatch Logs refused {name}: {response[2]!r}")


def install() -> None:
    """Have CloudFormation refuse a group that exists, or a key, as `CreateLogGroup` does.

    https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_CreateLogGroup.html
    """
    handlers = provisioners.RESOURCE_HANDLERS[_TYPE]
    unchecked = handlers["create"]

    def create(
        logical_id: str, properties: dict[str, Any], stack_name: str
    ) -> tuple[str, dict[str, Any]]:
        name = properties.get("LogGroupName")
        if name in cloudwatch_logs.log_groups:
            raise Refused(f"Resource of type '{_TYPE}' with identifier '{name}' already exists.")
        # As CloudFormation names a group; MiniStack gives it another name.
        _require_key(properties, name=name or f"{stack_name}-{logical_id}-1A2B3C4D5E6F")
        created: tuple[str, dict[str, Any]] = unchecked(logical_id, properties, stack_name)
        return created

    unchecked_update = handlers["update"]

    def update(
        physical_id: str, old: dict[str, Any], new: dict[str, Any], stack_name: str, *rest: Any
    ) -> tuple[str, dict[str, Any]]:
        logical_id = rest[0] if rest else physical_id
        if old.get("KmsKeyId") != new.get("KmsKeyId"):
            name = new.get("LogGroupName") or f"{stack_name}-{logical_id}-1A2B3C4D5E6F"
            _require_key(new, name=name)
        updated: tuple[str, dict[str, Any]] = unchecked_update(
            physical_id, old, new, stack_name, *rest
        )
        return updated

    handlers["create"] = create
    handlers["update"] = update


def _require_key(properties: dict[str, Any], *, name: str) -> None:
    """Refuse a key that CloudWatch Logs cannot encrypt a group with.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html; in the words
    of https://github.com/hashicorp/terraform-provider-aws/issues/8042.
    """
    key = properties.get("KmsKeyId")
    if key is None:
        return
    arn = f"arn:aws:logs:{get_region()}:{get_account_id()}:log-group:{name}"
    if kms_keys.problem(key) is not None or refuse_logs(key, log_group_arn=arn):
        raise Refused(
            "AccessDeniedException: The specified KMS key does not exist or is not allowed to be "
            f"used with Arn '{arn}'"
        )
