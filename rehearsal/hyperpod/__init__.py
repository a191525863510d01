"""A local SageMaker HyperPod API: clusters, nodes and events that change as time passes."""

from rehearsal.hyperpod.server import HyperPodApi
from rehearsal.hyperpod.service import HyperPodService
from rehearsal.hyperpod.simulation.errors import ApiError
from rehearsal.hyperpod.simulation.faults import Faults
from rehearsal.hyperpod.simulation.hooks import (
    Caller,
    ClusterView,
    Environment,
    NodeNetwork,
    NodeView,
    Observer,
    Scripts,
    Subnet,
    Subnets,
)
from rehearsal.hyperpod.simulation.surroundings import Timings
from rehearsal.hyperpod.simulation.unknowns import Unknowns

__all__ = [
    "ApiError",
    "Caller",
    "ClusterView",
    "Environment",
    "Faults",
    "HyperPodApi",
    "HyperPodService",
    "NodeNetwork",
    "NodeView",
    "Observer",
    "Scripts",
    "Subnet",
    "Subnets",
    "Timings",
    "Unknowns",
]
