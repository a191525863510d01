"""KMS keys as the services find them that encrypt with them, and keys with a chosen id."""

import json
from http import HTTPStatus
from typing import Any

from emulator.aws.chosen_ids import KMS_KEY_ID
from emulator.aws.ministack import kms

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
