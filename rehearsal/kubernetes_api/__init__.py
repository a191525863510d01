"""A Kubernetes API server in this process, for rehearsals and tests."""

from rehearsal.kubernetes_api.api import KubernetesApi
from rehearsal.kubernetes_api.authentication import Authenticate, Principal, Reads, static_tokens
from rehearsal.kubernetes_api.eks_tokens import eks_tokens
from rehearsal.kubernetes_api.errors import ApiError
from rehearsal.kubernetes_api.faults import WRITES, Fault, unreachable

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
