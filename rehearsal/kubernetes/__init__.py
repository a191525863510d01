"""A Kubernetes API server in this process, for rehearsals and tests."""

from rehearsal.kubernetes.api import KubernetesApi
from rehearsal.kubernetes.authentication import Authenticate, Principal, Reads, static_tokens
from rehearsal.kubernetes.eks_tokens import eks_tokens
from rehearsal.kubernetes.errors import ApiError
from rehearsal.kubernetes.faults import WRITES, Fault, unreachable

__all__ = [
    "WRITES",
    "ApiError",
    "Authenticate",
    "Fault",
    "KubernetesApi",
    "Principal",
    "Reads",
    "eks_tokens",
    "static_tokens",
    "unreachable",
]
