"""On what, and under which condition keys, EKS authorizes a request: what MiniStack does not say.

https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonelastickubernetesservice.html
"""

import json
import re
import uuid
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from emulator.aws.eks.api import access_entry_arn
from emulator.aws.ministack import iam_actions

_ENTRY = re.compile(r"/clusters/([^/]+)/access-entries/(arn:.+?)(?:/access-policies(?:/.*)?)?")
# What is done to an add-on that is there.
_ADDON = re.compile(r"/clusters/([^/]+)/addons/([^/]+)(?:/.*)?")
_TAGS = re.compile(r"/tags/(arn:.+)")


def install() -> None:
    """Authorize on access entries, add-ons and what is tagged, with the access policy as a key."""
    resource_arn: Callable[..., str] = iam_actions.extract_resource_arn
    tag_context: Callable[..., dict[str, Any]] = iam_actions.request_tag_context

    def extract_resource_arn(service: str, method: str, path: str, *rest: Any) -> str:
        *_others, region, account = rest
        found = None
        if service == "eks":
            found = _resource(unquote(path), place=f"{region}:{account}")
        return resource_arn(service, method, path, *rest) if found is None else found

    def request_tag_context(
        service: str, action: str, body: bytes, params: Mapping[str, Any]
    ) -> dict[str, Any]:
        context = tag_context(service, action, body, params)
        if action == "eks:AssociateAccessPolicy":
            context["eks:policyArn"] = json.loads(body)["policyArn"]
        return context

    iam_actions.extract_resource_arn = extract_resource_arn
    iam_actions.request_tag_context = request_tag_context


def _resource(path: str, *, place: str) -> str | None:
    tagged = _TAGS.fullmatch(path)
    if tagged is not None:
        return tagged[1]
    addon = _ADDON.fullmatch(path)
    if addon is not None:
        return f"arn:aws:eks:{place}:addon/{addon[1]}/{addon[2]}/{uuid.uuid4()}"
    entry = _ENTRY.fullmatch(path)
    if entry is None:
        return None
    return access_entry_arn(entry[1], entry[2])
