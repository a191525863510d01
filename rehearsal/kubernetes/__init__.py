"""A Kubernetes API server in this process, for rehearsals and tests."""

from rehearsal.kubernetes.control_plane import WRITES, ControlPlane, Fault, unreachable
from rehearsal.kubernetes.in_process import InProcessControlPlane
from rehearsal.kubernetes.objects.errors import ApiError
from rehearsal.kubernetes.server.access_policies import Grant
from rehearsal.kubernetes.server.api import KubernetesApi
from rehearsal.kubernetes.server.authentication import Authenticate, Principal, static_tokens
from rehearsal.kubernetes.server.eks_tokens import eks_tokens

__all__ = [
    "WRITES",
    "ApiError",
    "Authenticate",
    "ControlPlane",
    "Fault",
    "Grant",
    "InProcessControlPlane",
    "KubernetesApi",
    "Principal",
    "eks_tokens",
    "static_tokens",
    "unreachable",
]
