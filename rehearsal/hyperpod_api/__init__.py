"""A local SageMaker HyperPod API: clusters, nodes and events that change as time passes."""

from rehearsal.hyperpod_api.caller import Caller
from rehearsal.hyperpod_api.errors import ApiError
from rehearsal.hyperpod_api.faults import Faults
from rehearsal.hyperpod_api.hooks import (
    ClusterView,
    Environment,
    NodeView,
    Observer,
    Subnet,
    Subnets,
)
from rehearsal.hyperpod_api.server import HyperPodApi
from rehearsal.hyperpod_api.service import HyperPodService
from rehearsal.hyperpod_api.timings import Timings

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
]
