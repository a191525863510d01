"""A local SageMaker HyperPod API: clusters, nodes and events that change as time passes."""

from rehearsal.hyperpod.caller import Caller
from rehearsal.hyperpod.errors import ApiError
from rehearsal.hyperpod.faults import Faults
from rehearsal.hyperpod.hooks import (
    ClusterView,
    Environment,
    NodeView,
    Observer,
    Subnet,
    Subnets,
)
from rehearsal.hyperpod.server import HyperPodApi
from rehearsal.hyperpod.service import HyperPodService
from rehearsal.hyperpod.timings import Timings
from rehearsal.hyperpod.unknowns import Unknowns

__all__ = [
    "ApiError",
    "Caller",
    "ClusterView",
    "Environment",
    "Faults",
    "HyperPodApi",
    "HyperPodService",
    "NodeView",
    "Observer",
    "Subnet",
    "Subnets",
    "Timings",
    "Unknowns",
]
