"""What the parent process tells this one through the environment."""

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where the rest of the rehearsal listens. An empty string means: not there.

    Attributes:
        hyperpod_api: Base URL that SageMaker calls are forwarded to.
        kubernetes_endpoint: What EKS DescribeCluster reports as the cluster's endpoint.
        kubernetes_ca: Base64 of the PEM certificate authority of that endpoint.
        scratch: Directory to remove when the parent dies; this process then ends itself.
    """

    hyperpod_api: str
    kubernetes_endpoint: str
    kubernetes_ca: str
    scratch: str

    @classmethod
    def from_environment(cls) -> "Settings":
        """Take the settings out of the environment, for Lambda workers inherit what stays in it."""
        os.environ.pop("PYTHONPATH", None)
        return cls(
            hyperpod_api=os.environ.pop("REHEARSAL_HYPERPOD_API", ""),
            kubernetes_endpoint=os.environ.pop("REHEARSAL_KUBERNETES_ENDPOINT", ""),
            kubernetes_ca=os.environ.pop("REHEARSAL_KUBERNETES_CA", ""),
            scratch=os.environ.pop("REHEARSAL_SCRATCH", ""),
        )
