"""What must hold after a deployment: what `hyperpod-ops verify` checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubernetes.config import new_client_from_config

from hyperpod_cdk import Config
from hyperpod_ops.verification.check import Deployment
from hyperpod_ops.verification.verify import SUBJECTS
from hyperpod_ops.verification.verify import verify as checks_of
from rehearsal.aws.clients import AwsClients
from rehearsal.report import Check
from rehearsal.verification.commands import ClusterTools
from rehearsal.verification.pulled_images import image_checks
from rehearsal.verification.storage import new_objects

# Told only when one fails: a report has a line for each command of the documentation.
_TOLD_IF_FAILED = ("readiness", "devices", "routes", "security groups", "access entries")


def verify(
    config: Config,
    *,
    tools: ClusterTools,
    clients: AwsClients,
    outputs: Mapping[str, Mapping[str, str]],
) -> Iterator[Check]:
    """Yield each check as it is done."""
    with new_client_from_config(config_file=str(tools.kubeconfig)) as kubernetes:
        deployment = Deployment(
            config=config, client=clients, kubernetes=kubernetes, outputs=outputs
        )
        for name, subject in SUBJECTS.items():
            for check in checks_of(deployment, subjects={name: subject}):
                if not check.ok:
                    yield Check(check=f"{check.check}: {check.found}", ok=False)
                elif name not in _TOLD_IF_FAILED:
                    yield Check(check=check.check, ok=True)
    yield from image_checks(config, tools=tools, region=clients("ec2").meta.region_name)
    yield from new_objects(config, clients=clients, outputs=outputs)
