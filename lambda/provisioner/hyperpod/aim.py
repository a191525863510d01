"""What a request asks for, beside what the request before it asked for."""

from dataclasses import dataclass

from hyperpod_shared.clusters import GROUP_LISTS, ClusterInput
from provisioner.hyperpod.comparison import means_the_same

_APART = frozenset({"Tags", "ClusterName", *GROUP_LISTS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What a request asks for.

    Attributes:
        wanted: The CreateCluster input that is wanted.
        former: The one that was wanted before; None when nothing is known of it.
        rolls_back: Whether `former` is a request that failed, and some of it may have been made.
        clears_groups: Whether groups that no template names are a failed request's.
        latest_software: Whether every group without an AMI of its own gets HyperPod's latest.
    """

    wanted: ClusterInput
    former: ClusterInput | None
    rolls_back: bool = False
    clears_groups: bool = False
    latest_software: bool = False


def asked_fields(aim: Aim) -> frozenset[str]:
    """Return the cluster's own fields that are asked to change."""
    former = aim.former or {}
    return frozenset(
        key
        for key in {*aim.wanted, *former} - _APART
        if aim.former is None or not means_the_same(former.get(key), aim.wanted.get(key))
    )
