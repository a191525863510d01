"""Tables of DynamoDB: the recovery and the key that CloudFormation gives one.

https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-table.html
"""

from collections.abc import Callable, Mapping
from typing import Any

from hyperpod_emulator.aws.cloudformation.resource_type import Created, boolean
from hyperpod_emulator.aws.encryption import key_problem
from hyperpod_emulator.aws.ministack import dynamodb, provisioners, wrap
from hyperpod_emulator.aws.refused import Refused


def install() -> None:
    """Give a table what its template says, which MiniStack's CloudFormation passes over."""
    handlers = provisioners._RESOURCE_HANDLERS["AWS::DynamoDB::Table"]
    for operation in ("create", "update"):
        wrap(handlers, operation, _put)


def _put(put: Callable[..., Created], *given: Any) -> Created:
    # Of the properties, the new ones come last; the name of the stack follows.
    properties = [each for each in given if isinstance(each, Mapping)][-1]
    encryption = properties.get("SSESpecification") or {}
    key = encryption.get("KMSMasterKeyId")
    problem = key and key_problem(key)
    if problem:
        raise Refused(f"ValidationException: KMS key {key} {problem}")
    made = put(*given)
    recovery = properties.get("PointInTimeRecoverySpecification") or {}
    dynamodb._pitr_settings[made[0]] = boolean(recovery.get("PointInTimeRecoveryEnabled", False))
    is_encrypted = boolean(encryption.get("SSEEnabled", False))
    dynamodb._tables[made[0]]["SSEDescription"] = dynamodb._sse_description_from_spec(
        {**encryption, "Enabled": True} if is_encrypted else None
    )
    return made
