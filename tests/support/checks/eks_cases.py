"""Rules on the control plane alone."""

from hyperpod_cdk import EksConfig
from hyperpod_cdk.eks.checks.kubernetes_version import kubernetes_version
from hyperpod_cdk.eks.checks.public_endpoint import public_endpoint
from tests.support.checks.cases import WARNING, one

_ANYWHERE = "0.0.0.0/0"
_EVERYWHERE = "lets every address reach the Kubernetes API"

KUBERNETES_VERSIONS = [
    *(
        one(kubernetes_version, version, EksConfig(version=version))
        for version in ("1.33", "1.34", "1.35")
    ),
    *(
        one(
            kubernetes_version,
            version,
            EksConfig(version=version),
            (WARNING, "eks.version", "is outside 1.33 to 1.35"),
        )
        for version in ("1.30", "1.32")
    ),
]

PUBLIC_ENDPOINTS = [
    one(public_endpoint, "addresses written out", EksConfig(public_access_cidrs=(_ANYWHERE,))),
    one(public_endpoint, "narrow", EksConfig(public_access_cidrs=("203.0.113.0/24",))),
    one(public_endpoint, "private", EksConfig(endpoint_access="private")),
    one(
        public_endpoint,
        "open by default",
        EksConfig(),
        (WARNING, "eks.public_access_cidrs", _EVERYWHERE),
    ),
    one(
        public_endpoint,
        "public alone, open by default",
        EksConfig(endpoint_access="public"),
        (WARNING, "eks.public_access_cidrs", _EVERYWHERE),
    ),
]

CASES = [*KUBERNETES_VERSIONS, *PUBLIC_ENDPOINTS]
