"""Everything that stands in for AWS, started together and stopped together."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rehearsal.aws_clients import AwsClients, aws_clients
from rehearsal.hyperpod import HyperPodApi, HyperPodService
from rehearsal.kubernetes import KubernetesApi
from rehearsal.kubernetes_access import KubernetesAccess
from rehearsal.kubernetes_nodes import KubernetesNodes
from rehearsal.local_aws import LocalAws, LocalAwsSettings
from rehearsal.vpc_subnets import VpcSubnets


@dataclass(frozen=True, kw_only=True, slots=True)
class RehearsalEnvironment:
    """The local AWS, the HyperPod API behind it, and the Kubernetes API of its EKS cluster.

    Attributes:
        aws: The local AWS.
        clients: SDK clients of it.
        hyperpod: The HyperPod API's state and faults.
        kubernetes: The Kubernetes API.
        region: Region that the deployment goes to.
        operator_token: Bearer token of a cluster admin, for the rehearsal's own kubectl and helm.
    """

    aws: LocalAws
    clients: AwsClients
    hyperpod: HyperPodService
    kubernetes: KubernetesApi
    region: str
    operator_token: str


@contextmanager
def rehearsal_environment(
    *, region: str, kubernetes_version: str, eks_cluster_name: str, log_file: Path
) -> Iterator[RehearsalEnvironment]:
    """Start everything, on free ports; stop it again whatever happens.

    Args:
        region: Region that the deployment goes to.
        kubernetes_version: Version of the EKS cluster that will be made.
        eks_cluster_name: Its name; its tokens are the ones that the Kubernetes API accepts.
        log_file: Gets the local AWS's own log.
    """
    access = KubernetesAccess(cluster_name=eks_cluster_name)
    with KubernetesApi(
        kubernetes_version=kubernetes_version, authenticate=access.authenticate
    ) as kubernetes:
        subnets = VpcSubnets()
        service = HyperPodService(
            clock=time.time, observer=KubernetesNodes(kubernetes), subnets=subnets
        )
        with (
            HyperPodApi(service=service) as hyperpod_api,
            LocalAws(
                LocalAwsSettings(
                    region=region,
                    hyperpod_api=hyperpod_api.url,
                    kubernetes_endpoint=kubernetes.url,
                    kubernetes_ca=base64.b64encode(kubernetes.ca_pem.encode()).decode(),
                    log_file=log_file,
                )
            ) as aws,
        ):
            clients = aws_clients(aws)
            subnets.connect(clients)
            access.connect(aws)
            yield RehearsalEnvironment(
                aws=aws,
                clients=clients,
                hyperpod=service,
                kubernetes=kubernetes,
                region=region,
                operator_token=access.operator_token,
            )
