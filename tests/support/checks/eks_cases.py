"""Rules on the control plane alone."""

from hyperpod_cdk import EksConfig
from hyperpod_cdk.eks.checks.kubernetes_version import kubernetes_version
from tests.support.checks.cases import WARNING, one

CASES = [
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
