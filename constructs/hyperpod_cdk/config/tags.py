"""The `tags` section: AWS tags for every resource."""

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import AfterValidator, Field

from hyperpod_cdk.config.faults import Fault, refuse
from hyperpod_cdk.config.limits import limit_faults
from hyperpod_cdk.service_limits import shape

_ALL_TAGS = 50
# lambda/provisioner/hyperpod/claim.py and framework/owner.py
_OWN_TAGS = 4
_MOST_TAGS = _ALL_TAGS - _OWN_TAGS


def _check(value: dict[str, str]) -> dict[str, str]:
    refuse(_tag_faults(value))
    return value


def _tag_faults(tags: Mapping[str, str]) -> Iterator[Fault]:
    if len(tags) > _MOST_TAGS:
        message = (
            f"must be at most {_MOST_TAGS} tags: AWS takes {_ALL_TAGS} on a cluster, and the "
            f"provisioner marks it with up to {_OWN_TAGS} of its own"
        )
        yield Fault(path=(), value=len(tags), message=message)
    for key, value in tags.items():
        if key.lower().startswith("aws:"):
            message = "must not start with aws:, which AWS keeps for its own tags"
            yield Fault(path=(key,), value=key, message=message)
        else:
            for fault in limit_faults(key, limits=shape("sagemaker.TagKey"), noun="a tag key"):
                yield fault.under(key)
        for fault in limit_faults(value, limits=shape("sagemaker.TagValue"), noun="a tag value"):
            yield fault.under(key)


Tags = Annotated[
    dict[str, str], AfterValidator(_check), Field(json_schema_extra={"maxProperties": _MOST_TAGS})
]
"""Tag keys and values within the limits that all AWS services share."""
