"""Validators of what AWS offers and allows: each passes and fails, and the deployment's call too.

What a validator finds, and what the local AWS refuses, are looked at side by side.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from botocore.stub import Stubber
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config
from hyperpod_cdk.network.endpoint_services import ENDPOINT_SERVICES
from hyperpod_cdk.schema.errors import Severity
from hyperpod_cli.inspect.preflight.quotas import (
    ACROSS_CLUSTERS,
    SPOT_ACROSS_CLUSTERS,
    ServiceQuotas,
    instances_in_use,
    type_quota,
)
from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_cli.inspect.preflight.validators import client_tools as tools
from hyperpod_cli.inspect.preflight.validators.cluster_quotas import cluster_quotas
from hyperpod_cli.inspect.preflight.validators.endpoint_services import endpoint_services
from hyperpod_cli.inspect.preflight.validators.hyperpod_api import hyperpod_api
from hyperpod_cli.inspect.preflight.validators.network_quotas import network_quotas
from hyperpod_cli.inspect.preflight.validators.subnets import subnets
from hyperpod_cli.inspect.preflight.validators.training_plans import training_plans, with_plan
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_emulator.hyperpod import Caller, HyperPodService, Timings
from hyperpod_emulator.hyperpod.server import HyperPodApi
from hyperpod_emulator.hyperpod.simulation.faults import Faults
from hyperpod_emulator.testing.hyperpod_api import KnownSubnets, create_request, eks, group
from hyperpod_rehearsal.existing_resources.training_plans import training_plan
from tests.cli.inspect.preflight.conftest import ACCOUNT, REGION, lines, with_methods
from tests.support.configs import configure

TYPE, PLANNED = "ml.g5.12xlarge", "ml.p5.48xlarge"
CALLER = Caller(account=ACCOUNT, region=REGION)
PLANS = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-plan"


class Zones(KnownSubnets):
    """Knows the zones of us-west-2 as the local EC2 has them."""

    def zones(self) -> dict[str, str]:
        return {f"{REGION}{letter}": f"usw2-az{n}" for n, letter in enumerate("abcd", 1)}


@pytest.fixture(scope="module")
def hyperpod() -> Iterator[HyperPodApi]:
    service = HyperPodService(clock=time.time, timings=Timings(payment=0), network=Zones())
    with HyperPodApi(service=service) as api:
        yield api


def with_group(**group: Any) -> Config:
    wanted = {"name": "workers", "instance_type": TYPE, "instance_count": 2, **group}
    return configure({"cluster": {"instance_groups": [wanted]}})


def closed(network: dict[str, Any]) -> dict[str, Any]:
    """Return what closes a network, in zones of us-west-2."""
    return {
        "region": REGION,
        "network": {"closed": True, "public_subnet_cidrs": [], **network},
        "eks": {"endpoint_access": "private"},
    }


def test_a_region_without_sagemaker(target: Target, snapshot: SnapshotAssertion) -> None:
    unreachable = Mock(side_effect=EndpointConnectionError(endpoint_url="https://api.sagemaker.x"))
    elsewhere = with_methods(target, "sagemaker", list_clusters=unreachable)
    assert lines(hyperpod_api, configure({}), elsewhere) == snapshot


def test_client_tools(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "which", lambda name: f"/bin/{name}")
    assert lines(tools.client_tools, configure({}), target) == []


@pytest.mark.parametrize(
    "network",
    [
        {"availability_zone_ids": ["usw2-az1", "usw2-az2"]},
        # Only nodes have endpoints, in the first subnet of each zone.
        {
            "availability_zone_ids": ["usw2-az1", "usw2-az4"],
            "hyperpod_subnets": [{"cidr": "10.1.0.0/16", "availability_zone_id": "usw2-az1"}],
        },
        {
            "availability_zone_ids": ["usw2-az1", "usw2-az2"],
            "hyperpod_subnets": [
                {"cidr": "10.1.0.0/17", "availability_zone_id": "usw2-az4"},
                {"cidr": "10.1.128.0/17", "availability_zone_id": "usw2-az4"},
            ],
        },
        {
            "availability_zone_ids": ["us-west-2d", "us-west-2a"],
            "hyperpod_subnets": [{"cidr": "10.1.0.0/16"}],
        },
    ],
    ids=["all zones have them", "only nodes need them", "own zone", "zone by its place"],
)
def test_endpoint_services(
    target: Target, network: dict[str, Any], snapshot: SnapshotAssertion
) -> None:
    assert lines(endpoint_services, configure(closed(network)), target) == snapshot
    assert lines(endpoint_services, configure({}), target) == []


def test_the_local_aws_has_each_service_that_a_closed_network_may_need(target: Target) -> None:
    found = target.client("ec2").describe_vpc_endpoint_services()["ServiceDetails"]
    names = {each["ServiceName"].removeprefix(f"com.amazonaws.{REGION}.") for each in found}
    assert {service.name for service in ENDPOINT_SERVICES} <= names


def test_a_region_without_an_endpoint_service(target: Target, snapshot: SnapshotAssertion) -> None:
    def paginate(**asked: Any) -> list[dict[str, Any]]:
        found = target.client("ec2").describe_vpc_endpoint_services(**asked)["ServiceDetails"]
        return [{"ServiceDetails": [each]} for each in found if "fsx" not in each["ServiceName"]]

    other = with_methods(
        target, "ec2", get_paginator=lambda _operation: SimpleNamespace(paginate=paginate)
    )
    # The zone is found by its place among those of the account, as CloudFormation does.
    by_place = {"availability_zone_ids": None, "hyperpod_subnets": [{"cidr": "10.1.0.0/16"}]}
    config = configure({**closed(by_place), "region": None})
    assert lines(endpoint_services, config, other) == snapshot


def test_endpoint_services_of_china_may_have_a_prefix(target: Target) -> None:
    region, zone = "cn-north-1", {"ZoneName": "cn-north-1a", "ZoneId": "cnn1-az1"}

    def paginate(*, Filters: list[dict[str, list[str]]]) -> Iterator[dict[str, Any]]:
        for name in Filters[0]["Values"]:
            is_own = name.endswith((".ecr.api", ".ecr.dkr", ".sts"))
            if name.startswith("cn.") == is_own:
                found = {"ServiceName": name, "AvailabilityZones": [zone["ZoneName"]]}
                yield {"ServiceDetails": [found]}

    ec2 = SimpleNamespace(
        describe_availability_zones=lambda: {"AvailabilityZones": [zone]},
        get_paginator=lambda _operation: SimpleNamespace(paginate=paginate),
    )
    zonal = {"availability_zone_id": "cnn1-az1", "cidr": "10.1.0.0/16"}
    network = {"availability_zone_ids": ["cnn1-az1", "cnn1-az2"], "hyperpod_subnets": [zonal]}
    config = configure({**closed(network), "region": None})
    target = replace(target, partition="aws-cn", region=region, client=lambda _service: ec2)
    assert lines(endpoint_services, config, target) == []


def test_instances_of_other_clusters_are_in_use(
    target: Target, hyperpod: HyperPodApi, snapshot: SnapshotAssertion
) -> None:
    hyperpod.service.faults = Faults(quotas={TYPE: 2})
    config = with_group()
    assert lines(cluster_quotas, config, target) == []
    request = create_request(group(), ClusterName="other", Orchestrator=eks("other"))
    hyperpod.service.call("CreateCluster", request, CALLER)
    assert lines(cluster_quotas, config, target) == snapshot
    # Those of this one's former state are not.
    same = config.cluster.model_copy(update={"name": "other"})
    assert lines(cluster_quotas, config.model_copy(update={"cluster": same}), target) == []


def refuse_over(target: Target, config: Config, *groups: Any, **cluster: Any) -> str:
    """Return what the validator says of a configuration that HyperPod refuses for that quota."""
    (line,) = lines(cluster_quotas, config, target)
    quota = line.partition("for the quota '")[2].partition("'")[0]
    request = create_request(*groups, ClusterName="large", Orchestrator=eks("l"), **cluster)
    with pytest.raises(ClientError, match=rf"ResourceLimitExceeded.*{quota}"):
        target.client("sagemaker").create_cluster(**request)
    return line


def test_instances_of_a_cluster(
    target: Target, hyperpod: HyperPodApi, snapshot: SnapshotAssertion
) -> None:
    hyperpod.service.faults = Faults()
    config = with_group(instance_count=2001)
    assert refuse_over(target, config, group(InstanceCount=2001)) == snapshot


def test_spot_instances_of_all_clusters(
    target: Target, hyperpod: HyperPodApi, snapshot: SnapshotAssertion
) -> None:
    hyperpod.service.faults = Faults()
    spot: dict[str, Any] = {"CapacityRequirements": {"Spot": {}}}
    continuous = {"NodeProvisioningMode": "Continuous"}
    first = create_request(
        group(InstanceCount=3, **spot), ClusterName="spot", Orchestrator=eks("s"), **continuous
    )
    hyperpod.service.call("CreateCluster", first, CALLER)
    config = with_group(instance_count=998, capacity="Spot")
    more = group(InstanceCount=998, **spot)
    assert refuse_over(target, config, more, **continuous) == snapshot


@pytest.mark.parametrize(
    "volumes", [{"volume_size_gib": 8193}, {"ebs_volumes": [{"volume_size_gib": 8193}]}]
)
def test_size_of_a_volume(
    target: Target, volumes: dict[str, Any], snapshot: SnapshotAssertion
) -> None:
    large = group(InstanceStorageConfigs=[{"EbsVolumeConfig": {"VolumeSizeInGB": 8193}}])
    assert refuse_over(target, with_group(**volumes), large) == snapshot


def test_other_clusters_are_counted_by_what_they_have(target: Target) -> None:
    names = ("flexible", "gone", "slurm")
    arns = [f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/{number:012}" for number in range(3)]
    flexible = {
        "InstanceGroupName": "workers",
        "TargetCount": 5,
        "CurrentCount": 3,
        "CapacityRequirements": {"Spot": {}},
        "InstanceRequirements": {
            "CurrentInstanceTypes": [TYPE, PLANNED],
            "DesiredInstanceTypes": [TYPE, PLANNED],
        },
        "InstanceTypeDetails": [
            {"InstanceType": TYPE, "CurrentCount": 2},
            {"InstanceType": PLANNED, "CurrentCount": 1},
        ],
    }
    fixed = {"InstanceGroupName": "fixed", "InstanceType": TYPE, "TargetCount": 4}
    with Stubber(target.client("sagemaker")) as stub:
        summaries = [
            {"ClusterArn": arn, "ClusterName": name, "CreationTime": 0, "ClusterStatus": "Failed"}
            for name, arn in zip(names, arns, strict=True)
        ]
        stub.add_response("list_clusters", {"ClusterSummaries": summaries})
        told = {"ClusterArn": arns[0], "ClusterStatus": "Failed"}
        stub.add_response("describe_cluster", {**told, "InstanceGroups": [flexible]})
        stub.add_client_error("describe_cluster", "ResourceNotFound")
        stub.add_response("describe_cluster", {**told, "InstanceGroups": [fixed]})
        used = instances_in_use(configure({}), target)
    assert used == {
        type_quota(TYPE, is_spot=True): 2,
        type_quota(PLANNED, is_spot=True): 1,
        type_quota(TYPE, is_spot=False): 4,
        ACROSS_CLUSTERS: 9,
        SPOT_ACROSS_CLUSTERS: 5,
    }


@pytest.mark.parametrize("plan", [{}, {"count": 1}, {"instance_type": "ml.p4d.24xlarge"}, None])
def test_training_plans(
    target: Target,
    request: pytest.FixtureRequest,
    plan: dict[str, Any] | None,
    snapshot: SnapshotAssertion,
) -> None:
    name = f"plan-{request.node.callspec.indices['plan']}"
    arn = f"{PLANS}/{name}"
    if plan is not None:
        wanted = {"arn": arn, "instance_type": PLANNED, "count": 2, "zone_id": "usw2-az2", **plan}
        training_plan(**wanted).make(target.client)
    config = with_group(instance_type=PLANNED)
    named = with_group(instance_type=PLANNED, training_plan_arn=arn)
    found = lines(training_plans, named, target)
    assert found == snapshot
    by_name = with_group(instance_type=PLANNED, training_plan_arn=name)
    assert lines(training_plans, by_name, target) == [line.replace(arn, name) for line in found]
    assert lines(training_plans, config, target) == []
    if plan is None or "instance_type" in plan:
        with pytest.raises(OpsError, match="training-plan"):
            with_plan(config, name, target=target)
    else:
        assert lines(training_plans, with_plan(config, name, target=target), target) == found


@pytest.mark.parametrize(
    # Of an active one, SageMaker need not say how many instances it has.
    "status",
    ["Scheduled", "Pending", "Failed", "Expired", "Active"],
)
def test_a_plan_of_each_status(target: Target, status: str, snapshot: SnapshotAssertion) -> None:
    arn = f"{PLANS}/of-status"
    plan = {"TrainingPlanArn": arn, "TrainingPlanName": "of-status", "Status": status}
    with Stubber(target.client("sagemaker")) as stub:
        stub.add_response("describe_training_plan", plan)
        planned = with_group(instance_type=PLANNED, training_plan_arn=arn)
        assert lines(training_plans, planned, target) == snapshot


@pytest.mark.parametrize(
    ("instance_type", "zones"),
    [
        (PLANNED, ["usw2-az1", "usw2-az2"]),
        (PLANNED, ["usw2-az1", "usw2-az1"]),
        (PLANNED, ["usw2-az1"]),
        ("ml.m5.2xlarge", ["usw2-az1", "usw2-az2"]),
    ],
)
def test_subnets_of_a_group_are_in_one_zone_if_it_has_efa(
    target: Target, instance_type: str, zones: list[str], snapshot: SnapshotAssertion
) -> None:
    ec2 = target.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.8.0.0/16")["Vpc"]["VpcId"]
    made = [
        ec2.create_subnet(
            VpcId=vpc,
            CidrBlock=f"10.8.{index}.0/24",
            AvailabilityZone=f"{REGION}{'abc'[int(zone[-1]) - 1]}",
        )["Subnet"]["SubnetId"]
        for index, zone in enumerate(zones)
    ]
    config = with_group(instance_type=instance_type, override_vpc={"subnet_ids": made})
    found = lines(subnets, config, target)
    # The local EC2 draws the names of subnets.
    assert [re.sub(r"subnet-\w+", "SUBNET", line) for line in found] == snapshot


def test_aws_default_takes_the_place_of_a_quota_without_a_value(target: Target) -> None:
    quotas = target.client("service-quotas")
    unknown = {
        "ServiceCode": "sagemaker",
        "QuotaCode": "L-1",
        "QuotaName": "some",
        "ErrorReason": {"ErrorCode": "DEPENDENCY_THROTTLING_ERROR", "ErrorMessage": "later"},
    }
    with Stubber(quotas) as stub:
        stub.add_response("list_service_quotas", {"Quotas": [unknown]})
        stub.add_response("list_aws_default_service_quotas", {"Quotas": [{**unknown, "Value": 2}]})
        stub.add_response("get_service_quota", {"Quota": unknown})
        stub.add_response("get_aws_default_service_quota", {"Quota": {**unknown, "Value": 3}})
        read = ServiceQuotas(client=quotas)
        by_name, by_code = read.by_name("sagemaker", "some"), read.by_code("sagemaker", "L-1")
    assert (by_name and by_name["Value"], by_code and by_code["Value"]) == (2, 3)


def test_a_region_without_service_quotas_is_a_warning(target: Target) -> None:
    unreachable = Mock(side_effect=EndpointConnectionError(endpoint_url="https://servicequotas.x"))
    methods = dict.fromkeys(("get_paginator", "get_service_quota"), unreachable)
    without = with_methods(target, "service-quotas", **methods)
    for validator in (cluster_quotas, network_quotas):
        (problem,) = validator(configure({}), without)
        assert problem[0].severity is Severity.WARNING
        assert "does not answer for quotas" in str(problem[0])
