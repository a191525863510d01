"""Who calls: the identity that the proxy in front of the API has established."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from botocore.session import Session

DEFAULT_ACCOUNT = "000000000000"
DEFAULT_REGION = "us-west-2"


@cache
def partition_of(region: str) -> str:
    """Return the AWS partition of a Region, for example `aws-us-gov`."""
    return str(Session().get_partition_for_region(region))


@dataclass(frozen=True, slots=True)
class Caller:
    """The account and Region of a call, and the principal that made it.

    Attributes:
        account: Account id of 12 digits.
        region: Region name.
        arn: ARN of the calling principal.
    """

    account: str = DEFAULT_ACCOUNT
    region: str = DEFAULT_REGION
    arn: str = f"arn:aws:iam::{DEFAULT_ACCOUNT}:root"

    @property
    def partition(self) -> str:
        """The partition of the Region."""
        return partition_of(self.region)

    @classmethod
    def from_headers(cls, headers: Mapping[str, str]) -> Caller:
        """Read the caller from the headers that the proxy adds."""
        account = headers.get("x-rehearsal-account", DEFAULT_ACCOUNT)
        region = headers.get("x-rehearsal-region", DEFAULT_REGION)
        root = f"arn:{partition_of(region)}:iam::{account}:root"
        return cls(account=account, region=region, arn=headers.get("x-rehearsal-caller-arn", root))
