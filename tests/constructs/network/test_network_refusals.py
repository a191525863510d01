"""Rules on CIDR blocks and availability zones: one mistake, one line."""

from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config
from tests.support.configs import CONFIG_FOLDER, default_document
from tests.support.refusals import line_after, lines_for

VPC, EKS, PUBLIC = (
    f"network.{key}" for key in ("vpc_cidr", "eks_subnet_cidrs", "public_subnet_cidrs")
)
ZONES, SUBNETS = "network.availability_zone_ids", "network.hyperpod_subnets"
DOMAINS = "network.allowed_domains"


def subnets(*blocks: str) -> list[dict[str, str]]:
    return [{"cidr": block, "availability_zone_id": "usw2-az2"} for block in blocks]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (VPC, "10.192.0.0"),
        (VPC, "10.192.0.0/255.255.0.0"),
        (VPC, "10.300.0.0/16"),
        (VPC, "10.192.0.0/33"),
        (VPC, "fd00::/56"),
        (VPC, ""),
        (VPC, "10.192.0.1/16"),
        (VPC, "10.192.0.0/15"),
        (VPC, "127.0.0.0/16"),
        (f"{EKS}[0]", "10.192.7.0/29"),
        (f"{EKS}[1]", "10.193.8.0/28"),
        (f"{PUBLIC}[0]", "10.1.0.0/24"),
        (f"{PUBLIC}[1]", "10.192.10.128/25"),
        (f"{EKS}[1]", "10.192.11.16/28"),
        (f"{SUBNETS}[0].cidr", "10.192.10.0/24"),
        (f"{SUBNETS}[0].cidr", "172.31.0.0/16"),
        (f"{SUBNETS}[0].cidr", "198.19.0.0/17"),
        (SUBNETS, []),
        (SUBNETS, subnets(*(f"10.192.{n}.0/24" for n in range(20, 37)))),
        (EKS, ["10.192.7.0/28"]),
        (ZONES, ["usw2-az2"]),
        (f"{ZONES}[1]", "usw2-az1"),
        (f"{ZONES}[0]", "us-east-1a"),
        (f"{ZONES}[0]", "us-west-2-lax-1a"),
        (f"{ZONES}[0]", "usw2-lax1-az1"),
        (f"{ZONES}[0]", "us-west-2-phx-2a"),
        (f"{ZONES}[0]", "a" * 60),
        (f"{ZONES}[0]", "use1-az1"),
        (f"{SUBNETS}[0].availability_zone_id", "usw2-az3"),
        (f"{SUBNETS}[0].availability_zone_id", "euc1-az2"),
        ("network.endpoint_policies", "full_access"),
    ],
)
def test_network_mistake_gives_one_line(
    path: str, value: object, snapshot: SnapshotAssertion
) -> None:
    line = line_after(path, value)

    assert line.startswith(f"{path}: ")
    assert line == snapshot


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        # What is wrong with a list as a whole is said of the list, and of an entry of the entry.
        (f"{ZONES}[2]", "usw2-az3", ZONES),
        (f"{EKS}[2]", "10.192.9.0/28", EKS),
        *(
            (DOMAINS, [domain], f"{DOMAINS}[0]")
            for domain in ("*", "*.", "a", "a..b", "https://a.b", "A.B", "x.*.b", "a.b/", "_a.b")
        ),
        (DOMAINS, ["pypi.org", "pypi.org"], f"{DOMAINS}[1]"),
        (SUBNETS, subnets("10.1.0.0/17", "10.1.64.0/18"), f"{SUBNETS}[1].cidr"),
        (SUBNETS, subnets("10.1.0.0/16", "10.0.0.0/16"), f"{SUBNETS}[1].cidr"),
    ],
)
def test_mistake_is_said_of_the_list_or_the_entry(
    path: str, value: object, place: str, snapshot: SnapshotAssertion
) -> None:
    line = line_after(path, value)

    assert line.startswith(f"{place}: ")
    assert line == snapshot


def test_slurm_needs_no_second_zone() -> None:
    document = yaml.safe_load((CONFIG_FOLDER / "slurm.yaml").read_text("utf-8"))
    document["network"] = {
        "public_subnet_cidrs": ["10.192.10.0/24"],
        "availability_zone_ids": ["usw2-az2"],
        "hyperpod_subnets": [{"cidr": "10.1.0.0/16", "availability_zone_id": "usw2-az2"}],
    }

    assert Config.model_validate(document).network.nat_gateway_count == 1


def test_subnet_around_the_vpc_is_refused(snapshot: SnapshotAssertion) -> None:
    document = default_document()
    document["network"] |= {
        "vpc_cidr": "10.192.0.0/20",
        "hyperpod_subnets": subnets("10.192.0.0/16"),
    }

    assert lines_for(document) == snapshot


def test_zones_agree_with_each_other_when_the_region_comes_from_the_environment() -> None:
    document = default_document()
    del document["region"]
    document["network"]["availability_zone_ids"] = ["use1-az1", "usw2-az2"]

    assert [line.split(": ")[0] for line in lines_for(document)] == [
        f"{ZONES}[1]",
        f"{SUBNETS}[0].availability_zone_id",
    ]


@pytest.mark.parametrize(
    ("network", "places"),
    [
        pytest.param(
            {"hyperpod_subnets": subnets("10.1.0.0/16")},
            [f"{SUBNETS}[0].availability_zone_id"],
            id="zone-of-a-subnet-alone",
        ),
        pytest.param(
            {
                "vpc_cidr": "10.20.0.0/16",
                "public_subnet_cidrs": ["10.20.0.0/24", "10.20.1.0/24"],
            },
            [f"{EKS}[0]", f"{EKS}[1]"],
            id="contradicted-default",
        ),
        pytest.param(
            {
                "public_subnet_cidrs": ["10.192.10.0/24", "10.192.11.0/24", "10.192.12.0/24"],
                "eks_subnet_cidrs": ["10.192.7.0/28", "10.192.8.0/28", "10.192.9.0/28"],
            },
            [ZONES],
            id="more-than-two-zones",
        ),
    ],
)
def test_what_does_not_go_together(
    network: dict[str, Any], places: list[str], snapshot: SnapshotAssertion
) -> None:
    lines = lines_for(default_document() | {"network": network})

    assert [line.split(": ")[0] for line in lines] == places
    assert lines == snapshot


@pytest.mark.parametrize(
    ("region", "zone", "others"),
    [
        ("us-east-1", "use1-az3", ["use1-az1", "use1-az2"]),
        ("us-west-1", "usw1-az2", ["usw1-az1", "usw1-az3"]),
        ("ca-central-1", "cac1-az3", ["cac1-az1", "cac1-az2"]),
    ],
)
def test_a_zone_that_eks_refuses(
    region: str, zone: str, others: list[str], snapshot: SnapshotAssertion
) -> None:
    def document(zones: list[str] | None) -> dict[str, Any]:
        public = [f"10.192.{10 + n}.0/24" for n in range(len(zones or others))]
        network = {
            "public_subnet_cidrs": public,
            "availability_zone_ids": zones,
            "hyperpod_subnets": [{"cidr": "10.1.0.0/16"}],
        }
        return default_document() | {"region": region, "network": network}

    listed, unnamed = document([others[0], zone, others[1]]), document(None)
    assert (lines_for(listed), lines_for(unnamed)) == snapshot
    # EKS has no subnet in a zone that is listed after its own; nodes may be there.
    assert Config.model_validate(document([*others, zone])).network.availability_zone_ids


def test_zone_of_the_file_system_needs_the_list_of_zones(snapshot: SnapshotAssertion) -> None:
    document = default_document()
    del document["network"]
    document["storage"]["availability_zone_id"] = "usw2-az1"

    assert lines_for(document) == snapshot


def closed(**changes: Any) -> dict[str, Any]:
    """Return a valid document of a closed network, with changes of the section `network`."""
    document = default_document()
    document["eks"] = {"endpoint_access": "private"}
    document["helm"] = {"image_registry": "111122223333.dkr.ecr.us-west-2.amazonaws.com"}
    document["network"] = {"closed": True, "hyperpod_subnets": [{"cidr": "10.1.0.0/16"}], **changes}
    return document


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"public_subnet_cidrs": ["10.192.10.0/24", "10.192.11.0/24"]}, f"{PUBLIC}"),
        ({"availability_zone_ids": ["usw2-az1"]}, f"{ZONES}"),
        ({"eks_subnet_cidrs": ["10.192.7.0/28", "10.192.8.0/28", "10.192.9.0/28"]}, f"{ZONES}"),
        ({"nat_gateways": "single", "public_subnet_cidrs": []}, "network.nat_gateways"),
        ({"vpc_id": "vpc-0123456789abcdef0"}, "network.vpc_id"),
        (
            {"hyperpod_subnets": [{"cidr": "10.1.0.0/16", "availability_zone_id": "usw2-az3"}]},
            "network.hyperpod_subnets[0].availability_zone_id",
        ),
    ],
)
def test_what_does_not_fit_a_closed_network(
    changes: dict[str, Any], place: str, snapshot: SnapshotAssertion
) -> None:
    (line,) = lines_for(closed(**changes))

    assert line.startswith(f"{place}: ")
    assert line == snapshot


def test_a_closed_network_has_a_private_endpoint_of_kubernetes(
    snapshot: SnapshotAssertion,
) -> None:
    document = closed()
    del document["eks"]

    assert lines_for(document) == snapshot


def test_a_closed_network_may_have_more_zones_than_eks_subnets() -> None:
    zones = ["usw2-az1", "usw2-az2", "usw2-az3"]
    document = closed(
        availability_zone_ids=zones,
        hyperpod_subnets=[{"cidr": "10.1.0.0/16", "availability_zone_id": "usw2-az3"}],
    )

    assert Config.model_validate(document).network.public_subnet_cidrs == ()
