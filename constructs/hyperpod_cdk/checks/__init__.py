"""Checks of a valid configuration against the service's rules and the facts of instance types.

One rule a file: a pure function from a `Deployment` to its findings. Errors refuse the
configuration when it is loaded, warnings are shown at synth.
"""

from hyperpod_cdk.checks.finding import Finding, Severity
from hyperpod_cdk.checks.from_config import deployment_of
from hyperpod_cdk.checks.inputs import Deployment, Group, Subnet, Taint, Volume
from hyperpod_cdk.checks.rules import RULES, findings

__all__ = [
    "RULES",
    "Deployment",
    "Finding",
    "Group",
    "Severity",
    "Subnet",
    "Taint",
    "Volume",
    "deployment_of",
    "findings",
]
