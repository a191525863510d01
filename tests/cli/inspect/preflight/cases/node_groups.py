"""EKS node groups whose instances cannot be had, or whose AMI there is not."""

from typing import Any

from hyperpod_rehearsal.existing_resources.capacity import CapacityReservation, make_placement_group
from tests.cli.inspect.preflight.cases.capacity import ELSEWHERE
from tests.support.assembly import merged
from tests.support.configs import MINIMUM
from tests.support.failure import Failure, creating
from tests.support.partial_deployment import ACCOUNT_IN_FILES, Deployment

_RESERVATION = "cr-0123456789abcdef0"
_GROUP_ARN = f"arn:aws:resource-groups:us-west-2:{ACCOUNT_IN_FILES}:group/reserved"
_TYPE, _ZONE = "p4d.24xlarge", "usw2-az1"
_PLACEMENT = "near"
_DEPLOY = creating("node-groups", "AWS::EKS::Nodegroup")


def _groups(**changes: Any) -> dict[str, Any]:
    group = {"name": "gpu", "instance_types": [_TYPE], "desired_size": 2, **changes}
    return merged(MINIMUM, {"node_groups": [group]})


def _reserved(*, in_group: bool = False, **reservation: Any) -> Any:  # noqa: ANN401 - a step
    def make(deployment: Deployment) -> None:
        wanted = {"id": _RESERVATION, "instance_type": _TYPE, "count": 4, "zone": _ZONE}
        if in_group:
            wanted["group_arn"] = _GROUP_ARN.replace(ACCOUNT_IN_FILES, deployment.account)
        CapacityReservation(**{**wanted, **reservation}).make(deployment.client)

    return make


def _placed(*, strategy: str = "cluster") -> Any:  # noqa: ANN401 - a step
    def make(deployment: Deployment) -> None:
        make_placement_group(deployment.client, _PLACEMENT, strategy=strategy)

    return make


def _cancelled(deployment: Deployment) -> None:
    _reserved()(deployment)
    ec2 = deployment.client("ec2")
    ec2.cancel_capacity_reservation(CapacityReservationId=_RESERVATION)


def _reservation(name: str, said: str | None = None, **case: Any) -> Failure:
    document = _groups(capacity_reservation_id=_RESERVATION)
    case = {"document": document, "deploy": _DEPLOY, "said": said, **case}
    return Failure(case=f"capacity-reservations: {name}", **case)


_EXCEEDED = "ReservationCapacityExceeded"
FAILURES = (
    _reservation("none", said="InvalidCapacityReservationId.NotFound"),
    _reservation(
        "no resource group",
        document=_groups(capacity_reservation_resource_group_arn=_GROUP_ARN),
        said="InvalidCapacityReservationId.NotFound",
    ),
    _reservation("of another type", before=_reserved(instance_type="p5.48xlarge"), said=_EXCEEDED),
    _reservation("in another zone", before=_reserved(zone="usw2-az2"), said=_EXCEEDED),
    _reservation("cancelled", before=_cancelled, said=_EXCEEDED),
    _reservation("too small", before=_reserved(count=1), said=_EXCEEDED),
    _reservation(
        "none of a resource group's fits",
        document=_groups(capacity_reservation_resource_group_arn=_GROUP_ARN),
        before=_reserved(instance_type="p5.48xlarge", in_group=True),
        said=_EXCEEDED,
    ),
    _reservation(
        "a resource group that is too small",
        document=_groups(capacity_reservation_resource_group_arn=_GROUP_ARN),
        before=_reserved(count=1, in_group=True),
    ),
    _reservation(
        "a Capacity Block that ends soon",
        document=_groups(capacity_reservation_id=_RESERVATION, capacity="CapacityBlock"),
        before=_reserved(is_block=True),
    ),
    _reservation(
        "in a placement group", before=_reserved(placement_group=_PLACEMENT), said=_EXCEEDED
    ),
    Failure(
        case="placement-groups: none",
        document=_groups(placement_group=_PLACEMENT),
        deploy=_DEPLOY,
        said="InvalidPlacementGroup.Unknown",
    ),
    Failure(
        case="placement-groups: of another strategy",
        document=_groups(placement_group=_PLACEMENT),
        before=_placed(strategy="spread"),
        deploy=_DEPLOY,
    ),
    Failure(
        case="vcpu-quotas: of On-Demand Instances",
        document=_groups(desired_size=49),
        deploy=_DEPLOY,
        said="VcpuLimitExceeded",
    ),
    Failure(
        case="vcpu-quotas: of Spot Instances",
        document=_groups(instance_types=["g5.48xlarge"], capacity="Spot", desired_size=25),
        deploy=_DEPLOY,
        said="VcpuLimitExceeded",
    ),
    Failure(case="vcpu-quotas: at their max_size", document=_groups(max_size=49), deploy=_DEPLOY),
    Failure(
        case="instance-offerings: elsewhere for a node group",
        document=merged(_groups(), ELSEWHERE),
        deploy=_DEPLOY,
        said="not supported in your requested Availability Zone",
    ),
    Failure(
        case="ami-releases: that there is not",
        document=_groups(release_version="1.35.1-20991231"),
        deploy=_DEPLOY,
        said="Requested release version 1.35.1-20991231 is not valid for kubernetes version 1.35",
    ),
)
