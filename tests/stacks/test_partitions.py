"""The templates fit every partition: China, GovCloud, and no region at all."""

import re
from typing import Any

import pytest

from tests.conftest import Assemble, Configure

ARNS = re.compile(r"\barn:aws[a-z-]*:[^\"]*")


@pytest.mark.parametrize(
    ("region", "zones", "partition"),
    [
        pytest.param("us-west-2", ["usw2-az1", "usw2-az2"], "aws", id="commercial"),
        pytest.param("cn-north-1", ["cnn1-az1", "cnn1-az2"], "aws-cn", id="china"),
        pytest.param("us-gov-west-1", ["usgw1-az1", "usgw1-az2"], "aws-us-gov", id="gov-cloud"),
        pytest.param(None, None, None, id="any-region"),
    ],
)
def test_arns_are_of_the_regions_partition(
    configure: Configure,
    assemble: Assemble,
    region: str | None,
    zones: list[str] | None,
    partition: str | None,
) -> None:
    subnet: dict[str, Any] = {"cidr": "10.1.0.0/16"}
    network = {"availability_zone_ids": zones, "hyperpod_subnets": [subnet]}
    texts = assemble(configure({"region": region, "network": network})).texts()

    written = {arn.split(":")[1] for text in texts.values() for arn in ARNS.findall(text)}

    # CDK writes some of them with a reference instead: fine in any partition.
    assert written == ({partition} if partition is not None else set())
