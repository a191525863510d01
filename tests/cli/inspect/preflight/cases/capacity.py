"""Instances that cannot be had."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_emulator.hyperpod import Faults
from hyperpod_rehearsal.existing_resources.training_plans import training_plan
from tests.support.assembly import merged
from tests.support.configs import MINIMUM
from tests.support.failure import Failure, creating
from tests.support.partial_deployment import ACCOUNT_IN_FILES, Deployment

_PLAN = f"arn:aws:sagemaker:us-west-2:{ACCOUNT_IN_FILES}:training-plan/mine"
_TYPE, _PLANNED = "ml.m5.2xlarge", "ml.p5.48xlarge"


ELSEWHERE: Mapping[str, Any] = {
    "network": {
        "availability_zone_ids": ["usw2-az3", "usw2-az2"],
        "hyperpod_subnets": [{"cidr": "10.1.0.0/16", "availability_zone_id": "usw2-az3"}],
    }
}
"""A network in a zone that does not have every type."""


def _group(**changes: Any) -> dict[str, Any]:
    group = {"name": "g", "instance_type": _PLANNED, "instance_count": 1, **changes}
    return merged(MINIMUM, {"cluster": {"instance_groups": [group]}})


def _small_quota(deployment: Deployment) -> None:
    deployment.hyperpod.faults = Faults(quotas={_TYPE: 0})


def _plan(**plan: Any) -> Any:  # noqa: ANN401 - a step
    def make(deployment: Deployment) -> None:
        arn = _PLAN.replace(ACCOUNT_IN_FILES, deployment.account)
        wanted = {"arn": arn, "instance_type": _PLANNED, "count": 1, "zone_id": "usw2-az1", **plan}
        training_plan(**wanted).make(deployment.client)
        # It is paid for by then.
        deployment.time.sleep(60)

    return make


def _use_up_addresses(deployment: Deployment) -> None:
    _until_refused(lambda: deployment.client("ec2").allocate_address(Domain="vpc"))


def _use_up_vpcs(deployment: Deployment) -> None:
    _until_refused(lambda: deployment.client("ec2").create_vpc(CidrBlock="10.0.0.0/16"))


def _until_refused(call: Callable[[], object]) -> None:
    with suppress(ClientError):
        while True:
            call()


FAILURES = (
    Failure(case="instance-offerings: elsewhere", document=merged(_group(), ELSEWHERE)),
    Failure(
        case="training-plans: none",
        document=_group(training_plan_arn=_PLAN),
        said="training plan .*/mine does not exist",
    ),
    Failure(
        case="training-plans: of another type",
        document=_group(training_plan_arn=_PLAN),
        before=_plan(instance_type="ml.p4d.24xlarge"),
        said="is for ml.p4d.24xlarge, not for ml.p5.48xlarge",
    ),
    Failure(
        case="training-plans: in another zone",
        document=_group(training_plan_arn=_PLAN),
        before=_plan(zone_id="usw2-az2"),
        said="g: 0 of 1 nodes.*in the Availability Zone you requested",
    ),
    Failure(
        case="cluster-quotas: of a type",
        before=_small_quota,
        said="service limit 'ml.m5.2xlarge for cluster usage' is 0",
    ),
    Failure(
        case="network-quotas: Elastic IP addresses",
        before=_use_up_addresses,
        deploy=creating("platform", "AWS::EC2::EIP"),
        said="AddressLimitExceeded",
    ),
    Failure(
        case="network-quotas: VPCs",
        before=_use_up_vpcs,
        deploy=creating("platform", "AWS::EC2::VPC"),
        said="VpcLimitExceeded",
    ),
)
