"""OIDC providers of IAM: their resource type; MiniStack has the API.

https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateOpenIDConnectProvider.html
"""

from hyperpod_emulator.aws.cloudformation.resource_type import (
    Created,
    Properties,
    ResourceType,
    tag_map,
)
from hyperpod_emulator.aws.ministack import get_account_id, iam
from hyperpod_emulator.aws.refused import Refused


def _attributes(arn: str, properties: Properties) -> Created:
    iam._oidc_providers[arn] = {
        "Url": properties["Url"],
        "ClientIDList": list(properties.get("ClientIdList") or []),
        "ThumbprintList": list(properties.get("ThumbprintList") or []),
        "Arn": arn,
        "CreateDate": iam._now(),
        "Tags": [{"Key": key, "Value": value} for key, value in tag_map(properties).items()],
    }
    return arn, {"Arn": arn}


def _create(properties: Properties) -> Created:
    scheme, _, host = properties["Url"].partition("://")
    if scheme != "https":
        raise Refused("ValidationException: the URL of an OIDC provider begins with https://")
    arn = f"arn:aws:iam::{get_account_id()}:oidc-provider/{host}"
    if arn in iam._oidc_providers:
        raise Refused(f"EntityAlreadyExistsException: Provider with url {host} already exists.")
    return _attributes(arn, properties)


def _update(physical_id: str, _old: Properties, new: Properties) -> Created:
    return _attributes(physical_id, new)


def _delete(physical_id: str, _properties: Properties) -> None:
    iam._oidc_providers.pop(physical_id, None)


OIDC_PROVIDER = ResourceType(
    name="AWS::IAM::OIDCProvider", create=_create, update=_update, delete=_delete
)
