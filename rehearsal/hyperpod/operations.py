"""What every group of operations looks like and works with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rehearsal.hyperpod.caller import Caller
from rehearsal.hyperpod.cluster_lifecycle import ClusterLifecycle
from rehearsal.hyperpod.faults import FaultGate
from rehearsal.hyperpod.hooks import Environment, Subnets
from rehearsal.hyperpod.registry import ClusterRegistry
from rehearsal.hyperpod.surroundings import Surroundings

Answer = dict[str, Any]


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
