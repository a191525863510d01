"""The rule from a region's name to its zone IDs, against the IDs AWS uses."""

import pytest
from pydantic import TypeAdapter, ValidationError

from hyperpod_cdk.facts.service_limits import regions
from hyperpod_cdk.schema.availability_zones import AvailabilityZone, zone_id_prefix

PREFIXES = {
    "af-south-1": "afs1",
    "ap-east-1": "ape1",
    "ap-northeast-1": "apne1",
    "ap-northeast-2": "apne2",
    "ap-northeast-3": "apne3",
    "ap-south-1": "aps1",
    "ap-south-2": "aps2",
    "ap-southeast-1": "apse1",
    "ap-southeast-2": "apse2",
    "ap-southeast-3": "apse3",
    "ap-southeast-4": "apse4",
    "ap-southeast-5": "apse5",
    "ca-central-1": "cac1",
    "ca-west-1": "caw1",
    "cn-north-1": "cnn1",
    "cn-northwest-1": "cnnw1",
    "eu-central-1": "euc1",
    "eu-central-2": "euc2",
    "eu-north-1": "eun1",
    "eu-south-1": "eus1",
    "eu-south-2": "eus2",
    "eu-west-1": "euw1",
    "eu-west-2": "euw2",
    "eu-west-3": "euw3",
    "il-central-1": "ilc1",
    "me-central-1": "mec1",
    "me-south-1": "mes1",
    "mx-central-1": "mxc1",
    "sa-east-1": "sae1",
    "us-east-1": "use1",
    "us-east-2": "use2",
    "us-gov-east-1": "usge1",
    "us-gov-west-1": "usgw1",
    "us-west-1": "usw1",
    "us-west-2": "usw2",
}


@pytest.mark.parametrize(("region", "prefix"), PREFIXES.items())
def test_known_region(region: str, prefix: str) -> None:
    assert zone_id_prefix(region) == prefix


def test_every_public_region_has_a_prefix_of_its_own() -> None:
    public = [name for name, part in regions().items() if part in ("aws", "aws-cn", "aws-us-gov")]
    prefixes = [zone_id_prefix(region) for region in public]

    assert None not in prefixes
    assert len(set(prefixes)) == len(public)


@pytest.mark.parametrize("region", ["us-iso-east-1", "us-isob-east-1", "eusc-de-east-1", "nowhere"])
def test_region_without_a_known_rule(region: str) -> None:
    assert zone_id_prefix(region) is None


@pytest.mark.parametrize(
    "zone",
    [
        *("use1-az6", "usw2-az4", "apne1-az4", "apne2-az4", "cac1-az4", "euw1-az3", "cnnw1-az3"),
        # Of the isolated regions, AWS publishes no IDs.
        "usie1-az9",
    ],
)
def test_a_zone_that_may_be(zone: str) -> None:
    assert TypeAdapter(AvailabilityZone).validate_python(zone) == zone


@pytest.mark.parametrize(
    ("zone", "region"),
    [
        ("use1-az7", "us-east-1"),
        ("usw2-az8", "us-west-2"),
        ("usw2-az5", "us-west-2"),
        ("euw1-az4", "eu-west-1"),
        ("usgw1-az4", "us-gov-west-1"),
    ],
)
def test_a_zone_that_the_region_does_not_have(zone: str, region: str) -> None:
    with pytest.raises(ValidationError, match=rf"is not a zone of {region} \(zones: .*-az3"):
        TypeAdapter(AvailabilityZone).validate_python(zone)
