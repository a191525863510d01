"""A Kubernetes API server in this process, for tests of what talks to one.

It is frozen: it gets no new behavior by hand. What helm, kubectl or another client will need
beyond it comes from a real API server, with `InProcessControlPlane`'s methods. What a training job
needs has a source at each rule, and runs where it is asked for (`training_operator.py`).
"""

from hyperpod_emulator.kubernetes.faults import WRITES, Fault, unreachable
from hyperpod_emulator.kubernetes.in_process import InProcessControlPlane, KubernetesApi
from hyperpod_emulator.kubernetes.objects.errors import ApiError
from hyperpod_emulator.kubernetes.server.authentication import (
    Authenticate,
    Grant,
    Principal,
    eks_tokens,
    static_tokens,
)

__all__ = [
    "WRITES",
    "ApiError",
    "Authenticate",
    "Fault",
    "Grant",
    "InProcessControlPlane",
    "KubernetesApi",
    "Principal",
    "eks_tokens",
    "static_tokens",
    "unreachable",
]
