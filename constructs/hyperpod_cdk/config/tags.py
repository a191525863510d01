"""The `tags` section: AWS tags for every resource."""

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import Field

from hyperpod_cdk.facts.service_limits import shape
from hyperpod_cdk.schema.errors import Finding, error
from hyperpod_cdk.schema.limits import limit_findings
from hyperpod_cdk.schema.section import judged

_ALL_TAGS = 50
# Of shared/hyperpod_shared/owner.py and lambda/provisioner/hyperpod/claim.py.
_OWN_TAGS = 7
_MOST_TAGS = _ALL_TAGS - _OWN_TAGS


def _tag_findings(tags: Mapping[str, str]) -> Iterator[Finding]:
    if len(tags) > _MOST_TAGS:
        message = (
            f"must be at most {_MOST_TAGS} tags: AWS takes {_ALL_TAGS} on a cluster, and the "
            f"provisioner adds up to {_OWN_TAGS}"
        )
        yield error((), len(tags), message)
    for key, value in tags.items():
        if key.lower().startswith("aws:"):
            yield error((key,), key, "must not start with aws:, which AWS keeps for its own tags")
        else:
            for finding in limit_findings(
                key, limits=shape("sagemaker.TagKey"), noun="a tag key such as team"
            ):
                yield finding.under(key)
        for finding in limit_findings(
            value, limits=shape("sagemaker.TagValue"), noun="a tag value such as research"
        ):
            yield finding.under(key)


Tags = Annotated[
    dict[str, str], judged(_tag_findings), Field(json_schema_extra={"maxProperties": _MOST_TAGS})
]
"""Tag keys and values within the limits that all AWS services share."""
