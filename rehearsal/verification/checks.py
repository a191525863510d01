"""What must hold after a deployment: what `hyperpod-ops verify` checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kubernetes.config import new_client_from_config

from emulator.aws.clients import AwsClients
from hyperpod_cdk import Config
from hyperpod_cli.inspect.verification.check import LiveDeployment
from hyperpod_cli.inspect.verification.verify import verify as checks_of
from rehearsal.report import Check
from rehearsal.verification.commands import ClusterTools
from rehearsal.verification.pulled_images import image_checks
from rehearsal.verification.storage import new_objects


def verify(
    config: Config,
    *,
    tools: ClusterTools,
    clients: AwsClients,
    outputs: Mapping[str, Mapping[str, str]],
    deployer: Callable[[str], Any] | None = None,
) -> Iterator[Check]:
    """Yield each check as it is done.

    Args:
        config: What is deployed.
        tools: kubectl and helm.
        clients: AWS.
        outputs: The outputs of each stack, by the name of the stack.
        deployer: Returns the client of a service with the rights of whoever deploys, who verifies
            it too. Default: the rights are not tried.
    """
    with new_client_from_config(config_file=str(tools.kubeconfig)) as kubernetes:
        deployment = LiveDeployment(
            config=config, client=deployer or clients, kubernetes=kubernetes, outputs=outputs
        )
        for each in checks_of(deployment):
            yield Check(check=each.check, ok=each.ok, found=each.found, advice=each.advice)
    yield from image_checks(config, tools=tools, region=clients("ec2").meta.region_name)
    yield from new_objects(config, clients=clients, outputs=outputs)
