"""Keys, and the services that use them.

KMS keys as the services find them that encrypt with them, and keys with a chosen id.

What a key's policy lets an AWS service do with it, and what a service asks of its caller.
"""

import json
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from emulator.aws.iam.authorization import Permission
from emulator.aws.ministack import get_account_id, get_region, iam_evaluator, kms
from emulator.aws.shared_settings import KMS_KEY_ID

_Response = tuple[int, dict[str, str], bytes]


def problem(key: str) -> str | None:
    """Return why a service cannot encrypt with a key of the request's account and region, or None.

    Args:
        key: Its id or ARN.
    """
    record = kms.resolve_key(key)
    if record is None:
        return "does not exist"
    if record["KeyState"] != "Enabled":
        return f"is {record['KeyState']}"
    return None if record["KeySpec"] == "SYMMETRIC_DEFAULT" else "is not symmetric"


def install() -> None:
    """Let a key be created with the id that a configuration names."""
    create = kms.create_key

    def create_key(request: dict[str, Any]) -> _Response:
        response: _Response = create(request)
        tags = {tag["TagKey"]: tag["TagValue"] for tag in request.get("Tags") or []}
        if KMS_KEY_ID not in tags or response[0] != HTTPStatus.OK:
            return response
        record = kms.keys.pop(json.loads(response[2])["KeyMetadata"]["KeyId"])
        record |= {"KeyId": tags[KMS_KEY_ID], "Arn": kms.arn(tags[KMS_KEY_ID])}
        kms.keys[record["KeyId"]] = record
        shown: _Response = kms.describe_key({"KeyId": record["KeyId"]})
        return shown

    kms.create_key = create_key


# What EBS does with a volume's key, by grants that HyperPod passes on.
# https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html
_OF_VOLUMES = ["CreateGrant", "Decrypt", "DescribeKey", "GenerateDataKeyWithoutPlaintext"]
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
_OF_LOGS = ("Decrypt", "DescribeKey", "Encrypt", "GenerateDataKey", "ReEncryptFrom", "ReEncryptTo")


def refuse_logs(key: str, *, log_group_arn: str) -> bool:
    """Return whether a key's policy keeps CloudWatch Logs from encrypting a group with it.

    Args:
        key: Its id or ARN.
        log_group_arn: ARN of the group, without `:*`.
    """
    service = f"logs.{get_region()}.amazonaws.com"
    context = {"kms:EncryptionContext:aws:logs:arn": log_group_arn}
    return not all(
        _allows(key, service=service, action=f"kms:{action}", context=context)
        for action in _OF_LOGS
    )


def for_volumes(key: str) -> Iterator[Permission]:
    """Yield what HyperPod asks of its caller on the key of nodes' volumes.

    https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html

    Args:
        key: Its id or ARN.
    """
    record = kms.resolve_key(key)
    if record is None:  # which is refused as what it is
        return
    through = {"kms:ViaService": f"sagemaker.{get_region()}.amazonaws.com"}
    grant: dict[str, str | list[str]] = {
        **through,
        "kms:GrantIsForAWSResource": "true",
        "kms:GrantOperations": _OF_VOLUMES,
    }
    yield Permission(action="kms:CreateGrant", resource=record["Arn"], context=grant)
    yield Permission(action="kms:DescribeKey", resource=record["Arn"], context=through)


def _allows(key: str, *, service: str, action: str, context: Mapping[str, str]) -> bool:
    record = kms.resolve_key(key)
    if record is None:
        return False
    asked = iam_evaluator.EvalContext(
        principal_arn=service,
        principal_type="Service",
        principal_account=get_account_id(),
        action=action,
        resource_arn=record["Arn"],
        region=get_region(),
        secure_transport=True,
        service_context={name.lower(): value for name, value in context.items()},
    )
    policy = record.get("Policy") or ""
    decision = iam_evaluator.evaluate_resource_policy(policy, asked, service=service)
    return bool(decision.decision == "Allow")
