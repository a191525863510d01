"""The `tags` section: AWS tags for every resource."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from hyperpod_cdk.facts.service_limits import shape
from hyperpod_cdk.schema.errors import Findings, error
from hyperpod_cdk.schema.limits import limit_findings
from hyperpod_cdk.schema.section import judged
from hyperpod_shared.owner import TAG_PREFIX

_ALL_TAGS = 50
# Two of shared/hyperpod_shared/owner.py, and what a cluster of a former version still carries.
_OWN_TAGS = 7
_MOST_TAGS = _ALL_TAGS - _OWN_TAGS


def tag_findings(tags: Mapping[str, str]) -> Findings:
    """Find tags that AWS refuses, or that would replace the marks of the deployment's own work."""
    if len(tags) > _MOST_TAGS:
        message = (
            f"must be at most {_MOST_TAGS} tags: AWS takes {_ALL_TAGS} on a cluster, and the "
            f"provisioner adds up to {_OWN_TAGS}"
        )
        yield error((), len(tags), message)
    for key, value in tags.items():
        if key.lower().startswith("aws:"):
            yield error((key,), key, "must not start with aws:, which AWS keeps for its own tags")
        elif key.startswith(TAG_PREFIX):
            message = (
                f"must not start with {TAG_PREFIX}, the deployment's own tags: with another value "
                "in one it no longer knows its cluster, and can neither change nor delete it"
            )
            yield error((key,), key, message)
        else:
            noun = "a tag key such as team"
            yield from limit_findings(key, limits=shape("sagemaker.TagKey"), noun=noun, path=(key,))
        noun = "a tag value such as research"
        yield from limit_findings(value, limits=shape("sagemaker.TagValue"), noun=noun, path=(key,))


Tags = Annotated[
    dict[str, str], judged(tag_findings), Field(json_schema_extra={"maxProperties": _MOST_TAGS})
]
"""Tag keys and values within the limits that all AWS services share."""
