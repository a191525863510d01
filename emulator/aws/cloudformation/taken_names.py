"""Names that something else has: CloudFormation makes nothing of that name, and takes nothing over.

MiniStack does so for other types itself, and for these puts the new resource into the old one's
place. https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateRole.html and
https://docs.aws.amazon.com/kms/latest/APIReference/API_CreateAlias.html have the errors.
"""

from collections.abc import Callable
from typing import Any

from emulator.aws.cloudformation.resource_type import Created, Properties, Refused
from emulator.aws.ministack import iam, kms, provisioners

_IsTaken = Callable[[str], bool]


def install() -> None:
    """Check the names of what is created of these types."""
    _check("AWS::IAM::Role", "RoleName", lambda name: name in iam.roles)
    _check("AWS::KMS::Alias", "AliasName", lambda name: kms.alias_arn(name) in kms.aliases)


def _check(resource_type: str, key: str, is_taken: _IsTaken) -> None:
    handlers: dict[str, Any] = provisioners.RESOURCE_HANDLERS[resource_type]
    unchecked = handlers["create"]

    def create(logical_id: str, properties: Properties, stack_name: str) -> Created:
        name = properties.get(key)
        if name and is_taken(name):
            raise Refused(
                f"Resource of type '{resource_type}' with identifier '{name}' already exists."
            )
        created: Created = unchecked(logical_id, properties, stack_name)
        return created

    handlers["create"] = create
