"""Why an EKS node group failed, by the issues that EKS tells, and what to do about each."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_shared.failures import Cause

TYPE = "AWS::EKS::Nodegroup"
# As CloudFormation words EKS's issues, in its present handler and the former one, and the errors of
# an update: https://github.com/aws/containers-roadmap/issues/1282.
_ISSUE = re.compile(
    r"(?:Issue\(|ErrorDetail\(|\{)(?:Error)?Code[=:] ?(?P<code>\w+), ?"
    r"(?:Error)?Message[=:] ?(?P<message>.*?), ?"
    r"ResourceIds[=:] ?\[(?P<resources>[^\]]*)\]",
    re.DOTALL,
)
_FAILED = re.compile(r"\.? ?Launching EC2 instance failed\.?$")
# It follows from every other one: EKS makes up IDs for instances that were never launched.
_CONSEQUENCE = "NodeCreationFailure"


@dataclass(frozen=True, slots=True)
class NodeGroupCause(Cause):
    """One kind of failure of node groups.

    `once_there` is what to do for a group that exists, of which types, capacity and subnets are
    fixed, and which EKS goes on with by itself; empty where the next step is the same.
    """

    once_there: str = ""


# What EC2 Auto Scaling says, which EKS passes on:
# https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html
# https://docs.aws.amazon.com/eks/latest/APIReference/API_Issue.html
CAUSES = (
    # https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html
    NodeGroupCause(
        "eviction",
        r"PodEvictionFailure",
        "A pod cannot be evicted from a node that is being removed: find its "
        "PodDisruptionBudget with `kubectl get pdb -A`, delete or move the pod, then deploy "
        "again.",
    ),
    NodeGroupCause(
        "reservation",
        r"ReservationCapacityExceeded|sufficient compatible and available capacity|"
        r"InvalidCapacityReservation",
        "Compare the capacity reservation with the group: its zone, its instance type, and how "
        "many instances it has left. `hyperpod-cdk preflight` does.",
    ),
    NodeGroupCause(
        "Capacity Block",
        r"Capacity Block reservation \S+ is not active",
        "Set desired_size: 0 until the Capacity Block begins.",
    ),
    NodeGroupCause(
        "Spot",
        r"UnfulfillableCapacity|no Spot capacity|MaxSpotInstanceCountExceeded",
        "Add types to instance_types, use more zones, or set capacity: OnDemand.",
        once_there="Wait until EC2 has capacity. Or add a group with another name and more "
        "instance_types, more zones or capacity: OnDemand, and remove this one later.",
    ),
    NodeGroupCause(
        "capacity",
        r"Insufficient\w*Capacity|sufficient \S+ capacity",
        "Wait and deploy again, set availability_zone_id to another zone, or reserve capacity "
        "and set capacity_reservation_id.",
        once_there="Wait until EC2 has capacity. Or add a group with another name in another "
        "zone, or reserve capacity in this zone and set capacity_reservation_id.",
    ),
    NodeGroupCause(
        "quota",
        r"VcpuLimitExceeded|LimitExceeded|quota|already running",
        "Request a higher vCPU quota; `hyperpod-cdk preflight` shows which one.",
    ),
    NodeGroupCause(
        "zone",
        r"not supported in your requested Availability Zone",
        "Set availability_zone_id to a zone that offers the type; `hyperpod-cdk preflight` lists "
        "them.",
        once_there="Add a group with another name in a zone that offers the type; "
        "`hyperpod-cdk preflight` lists them.",
    ),
    NodeGroupCause(
        "addresses",
        r"InsufficientFreeAddresses|free addresses",
        "Give the nodes a larger HyperPod subnet.",
        once_there="Free addresses in the subnet, or add a group with another name in another "
        "HyperPod subnet.",
    ),
    NodeGroupCause(
        "key",
        r"Client\.InternalError|Client error on launch|\bKMS\b",
        "In the policy of the volumes' KMS key, allow the service-linked role "
        "AWSServiceRoleForAutoScaling to use it.",
    ),
    NodeGroupCause(
        "join",
        _CONSEQUENCE,
        "The instances run but do not join: check that their subnet has a route to AWS's APIs "
        "and the cluster's endpoint, and read `aws ec2 get-console-output --instance-id "
        "<instance>`.",
    ),
)
_OTHER = "Fix the cause that the message names, then deploy again."
_OTHER_ONCE_THERE = "Fix the cause that the message names."


@dataclass(frozen=True, kw_only=True, slots=True)
class Issue:
    """What EKS says is wrong with a node group: code, words, and the AWS resources it is about."""

    code: str
    message: str
    resources: str

    @property
    def words(self) -> str:
        """EKS's words, without what follows from them."""
        where = f" ({self.resources})" if self.code == _CONSEQUENCE else ""
        return f"{_FAILED.sub('', self.message).rstrip('.')}{where}"

    @property
    def cause(self) -> str:
        """A few words of ours; EKS's code for a cause that is not known."""
        return self.code if self._known is None else self._known.name

    @property
    def next_step(self) -> str:
        """What to do for a group that is not there yet."""
        return _OTHER if self._known is None else self._known.next_step

    @property
    def once_there(self) -> str:
        """What to do for a group that exists."""
        known = self._known
        return _OTHER_ONCE_THERE if known is None else known.once_there or known.next_step

    @property
    def _known(self) -> NodeGroupCause | None:
        text = f"{self.code}: {self.words}"
        return next((each for each in CAUSES if each.fits(text)), None)


def explained(message: str, *, exists: bool) -> str:
    """Return EKS's issues in CloudFormation's words about a node group, each with the next step.

    Other words are returned as they are. `exists` says that the group stays, after a change that
    failed.
    """
    issues = [Issue(**found.groupdict()) for found in _ISSUE.finditer(message)]
    lines = [f"{words}. {step}" for words, step in told(issues, exists=exists).items()]
    again = ["Deploy again then."] if exists else []
    return " ".join([*lines, *again]) if lines else message


def health_told(described: Mapping[str, Any]) -> dict[str, str]:
    """Return the issues of a node group that exists, each with its next step; see `told`."""
    return told(issues_of(described), exists=True)


def issues_of(described: Mapping[str, Any]) -> list[Issue]:
    """Return the issues of a node group as DescribeNodegroup has it."""
    return [
        Issue(
            code=str(each.get("code", "")),
            message=str(each.get("message", "")),
            resources=", ".join(each.get("resourceIds") or ()),
        )
        for each in (described.get("health") or {}).get("issues") or ()
    ]


def told(issues: Sequence[Issue], *, exists: bool) -> dict[str, str]:
    """Return the next step of each issue, by its cause and EKS's own words.

    What follows from other issues is left out. `exists` says that the group is there, and stays.
    """
    return {
        f"{each.cause}: {each.words}": each.once_there if exists else each.next_step
        for each in causing(issues)
    }


def causing(issues: Sequence[Issue]) -> Sequence[Issue]:
    """Return the issues without those that follow from others."""
    return [each for each in issues if each.code != _CONSEQUENCE] or issues
