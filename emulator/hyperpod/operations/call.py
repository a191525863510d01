"""What every group of operations looks like and works with, paging included."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from emulator.hyperpod.simulation.cluster_lifecycle import ClusterLifecycle
from emulator.hyperpod.simulation.errors import validation_error
from emulator.hyperpod.simulation.faults import FaultGate
from emulator.hyperpod.simulation.hooks import Caller, Environment, Subnets
from emulator.hyperpod.simulation.state import Cluster, ClusterRegistry
from emulator.hyperpod.simulation.surroundings import Surroundings

Answer = dict[str, Any]
Item = TypeVar("Item")
# Of a request without MaxResults. For clusters and nodes, AWS does not say how many that are; for
# most of its other lists, 10, such as
# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ListEndpoints.html
DEFAULT_PAGE_SIZE = 10


@dataclass(frozen=True, slots=True)
class Call:
    """One valid call: the request, who makes it and when (epoch seconds)."""

    request: Mapping[str, Any]
    caller: Caller
    now: float


Handler = Callable[[Call], Answer]


@dataclass(frozen=True, slots=True)
class Backend:
    """What operations work with.

    Attributes:
        registry: The clusters.
        lifecycle: Moves clusters and nodes.
        surroundings: Time and faults.
        environment: Checks outside facts at CreateCluster.
        subnets: Knows the subnets.
        release_version: The latest HyperPod AMI release.
    """

    registry: ClusterRegistry
    lifecycle: ClusterLifecycle
    surroundings: Surroundings
    environment: Environment | None
    subnets: Subnets | None
    release_version: str

    @property
    def faults(self) -> FaultGate:
        """What goes wrong."""
        return self.surroundings.faults

    def cluster_of(self, call: Call) -> Cluster:
        """Return the cluster that a call names.

        Raises:
            ApiError: There is none, or of another account or region.
        """
        return self.registry.find(call.request["ClusterName"], call.caller)


def sort(
    items: Iterable[Item],
    request: Mapping[str, Any],
    *,
    keys: Mapping[str, Callable[[Item], Any]],
    default_order: str = "Ascending",
) -> list[Item]:
    """Sort by the request's SortBy (default: the first key) and SortOrder."""
    key = keys[request.get("SortBy", next(iter(keys)))]
    descending = request.get("SortOrder", default_order) == "Descending"
    return sorted(items, key=key, reverse=descending)


def page(
    items: Sequence[Item], request: Mapping[str, Any]
) -> tuple[Sequence[Item], dict[str, str]]:
    """Return the page that a request asks for, and the NextToken member if there is more.

    Raises:
        ApiError: ValidationException for a token that this API did not give.
    """
    start = _offset(request.get("NextToken"))
    end = start + request.get("MaxResults", DEFAULT_PAGE_SIZE)
    more = {"NextToken": _token(end)} if end < len(items) else {}
    return items[start:end], more


def within(time: float, request: Mapping[str, Any], *, after: str, before: str) -> bool:
    """Say whether a time lies within the request's members `after` and `before`."""
    earliest, latest = request.get(after), request.get(before)
    return (earliest is None or time > earliest) and (latest is None or time < latest)


def _token(offset: int) -> str:
    return base64.urlsafe_b64encode(str(offset).encode()).decode()


def _offset(token: str | None) -> int:
    if token is None:
        return 0
    try:
        return int(base64.urlsafe_b64decode(token))
    except (binascii.Error, ValueError):
        message = f"NextToken '{token}' is not one that this operation returned."
        raise validation_error(message) from None
