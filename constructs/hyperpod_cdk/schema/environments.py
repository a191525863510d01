"""What a deployment is called, and the account and region that it goes to."""

from typing import Annotated

from pydantic import AfterValidator

from hyperpod_cdk.facts.service_limits import regions
from hyperpod_cdk.schema.limits import Matching, nearest

# The bucket sagemaker-<name>-<12-digit account>-<region> must fit into S3's 63 characters.
_LONGEST_NAME = 20


def _region(value: str) -> str:
    if value not in regions():
        hint = nearest(value, known=regions())
        raise ValueError(f"is not an AWS region{hint} (an example: us-west-2)")
    return value


Region = Annotated[str, AfterValidator(_region)]

DeploymentName = Annotated[
    str,
    Matching(
        pattern=r"[a-z]([a-z0-9-]*[a-z0-9])?",
        longest=_LONGEST_NAME,
        rule=f"must be 1 to {_LONGEST_NAME} lower-case letters, digits and inner hyphens, with "
        "a letter first: it names stacks and an S3 bucket",
    ),
]

AccountId = Annotated[
    str,
    Matching(
        pattern=r"[0-9]{12}",
        rule='must be the 12 digits of an AWS account, in quotes, such as "111122223333"',
    ),
]
