"""What makes no sense beside `network.closed`."""

from collections.abc import Iterator, Sequence

from hyperpod_cdk.schema.errors import Finding


def public_subnet_findings(value: Sequence[str]) -> Iterator[Finding]:
    """Find public subnets of a closed network."""
    if value:
        message = (
            "must be left out beside network.closed: a closed network has no public subnets, "
            "because nothing routes to the internet"
        )
        yield Finding(value=list(value), message=message)
