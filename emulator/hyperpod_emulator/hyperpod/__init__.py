"""A local SageMaker HyperPod API: clusters, nodes and events that change as time passes."""

from hyperpod_emulator.hyperpod.server import HyperPodApi, HyperPodService
from hyperpod_emulator.hyperpod.simulation.errors import ApiError
from hyperpod_emulator.hyperpod.simulation.faults import Faults
from hyperpod_emulator.hyperpod.simulation.hooks import (
    Caller,
    EventBus,
    NodeNetwork,
    NodeView,
    Observer,
    Scripts,
    Subnet,
)
from hyperpod_emulator.hyperpod.simulation.surroundings import Timings, Unknowns

__all__ = [
    "ApiError",
    "Caller",
    "EventBus",
    "Faults",
    "HyperPodApi",
    "HyperPodService",
    "NodeNetwork",
    "NodeView",
    "Observer",
    "Scripts",
    "Subnet",
    "Timings",
    "Unknowns",
]
