"""Everything that stands in for AWS, started together and stopped together."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.facts import mig
from hyperpod_cdk.facts.instance_types import ec2_name, instance_facts, instance_types
from hyperpod_cdk.facts.kubernetes_support import END_OF_EXTENDED_SUPPORT
from hyperpod_cdk.facts.regional_types import regional_types
from hyperpod_emulator.aws.local_aws import (
    AwsClients,
    LocalAws,
    LocalAwsSettings,
    aws_clients,
    aws_session,
)
from hyperpod_emulator.aws.settings import SAGEMAKER_EVENTS
from hyperpod_emulator.definitions import karpenter
from hyperpod_emulator.hardware import GPU, node_architecture, node_capacity
from hyperpod_emulator.hyperpod import (
    ApiError,
    Caller,
    EventBus,
    HyperPodApi,
    HyperPodService,
    NodeView,
    Observer,
)
from hyperpod_emulator.hyperpod.simulation.cluster_lifecycle import (
    PENDING_REBOOT,
    PENDING_REPLACEMENT,
)
from hyperpod_emulator.hyperpod.simulation.nodes import LABEL_PREFIX
from hyperpod_emulator.kubernetes import InProcessControlPlane, KubernetesApi
from hyperpod_emulator.node.lifecycle_logs import LifecycleLogs
from hyperpod_emulator.node.managed_nodes import ManagedNodes
from hyperpod_emulator.node.node import VpcNetwork
from hyperpod_emulator.node.registries import RegistriesOfSubnets
from hyperpod_rehearsal.cdk_cli import CdkCliProcess

ALLOWED_CALLS, MESSAGES = "allowed-calls.jsonl", "messages.jsonl"
_HEALTH = f"{LABEL_PREFIX}/node-health-status"
_OPERATOR = "gpu-operator"
SCRIPTS_AT_ONCE = {"HYPERPOD_VOLUME_WAIT_SECONDS": "0", "HYPERPOD_LOG_FLUSH_SECONDS": "0"}
"""With these variables, the lifecycle scripts wait for nothing."""
OWN_SCRIPT = "own/on_create.sh"
"""The user's own script, which is for a real node."""


def eks_cluster_of(config: Config) -> str | None:
    """Return the name of the EKS cluster of a deployment; None without a control plane."""
    return None if config.control_plane is None else config.eks_cluster_name


class KubernetesNodes(Observer):
    """Registers a Kubernetes Node for each HyperPod node that runs."""

    NAMESPACE = "aws-hyperpod"

    def __init__(
        self, kubernetes: KubernetesApi, registries: RegistriesOfSubnets | None = None
    ) -> None:
        self._kubernetes = kubernetes
        self._registries = registries

    def check_cluster(self, eks_cluster_arn: str) -> None:
        """Refuse a cluster on an EKS cluster without the HyperPod dependencies.

        "Failure to configure your Amazon EKS cluster using the provided Helm chart might result in
        the SageMaker HyperPod cluster not functioning correctly or the creation process failing
        entirely":
        https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-install-packages-using-helm-chart.html
        What the service looks at is not published, nor what it says. The page has one name that
        must not be changed: the namespace of what resiliency runs.
        """
        namespaces = self._kubernetes.objects("v1", "Namespace")
        if all(namespace["metadata"]["name"] != self.NAMESPACE for namespace in namespaces):
            message = (
                f"EKS cluster {eks_cluster_arn} lacks the namespace {self.NAMESPACE}. "
                "Install the Helm chart of the HyperPod dependencies first."
            )
            raise ApiError(code="ValidationException", message=message)

    def node_running(self, node: NodeView) -> None:
        """A node has joined the cluster."""
        hardware = instance_facts(node.instance_type)
        state, capacity = self._partitioned(node, node_capacity(hardware))
        self._kubernetes.put_node(
            node.kubernetes_name,
            instance_type=node.instance_type,
            labels={"kubernetes.io/arch": node_architecture(hardware), **node.labels, **state},
            capacity=capacity,
            taints=[
                {name.lower(): value for name, value in taint.items()} for taint in node.taints
            ],
            pull_error=self._registries.pull_error(node.subnet.subnet_id)
            if self._registries and node.subnet
            else None,
        )

    def _partitioned(
        self, node: NodeView, capacity: Mapping[str, str]
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Return what NVIDIA's MIG manager says of a node, and what the node has then.

        https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-gpu-partitioning-labels.html
        """
        layout = node.labels.get(mig.LABEL)
        operators = self._kubernetes.objects("apps/v1", "Deployment")
        if layout is None or all(item["metadata"]["name"] != _OPERATOR for item in operators):
            return {}, {**capacity}
        if layout not in mig.layouts(node.instance_type):
            return {mig.STATE_LABEL: "failed"}, {**capacity}
        others = {name: count for name, count in capacity.items() if name != GPU}
        partitions = mig.partitioned(node.instance_type, layout).items()
        gpus = int(capacity[GPU])
        partitioned = {mig.resource(profile): str(gpus * count) for profile, count in partitions}
        return {mig.STATE_LABEL: "success"}, {**others, **partitioned}

    def node_silent(self, node: NodeView) -> None:
        """A node reboots, or is gone without Kubernetes having been told."""
        self._kubernetes.silence_node(node.kubernetes_name)

    def node_removed(self, node: NodeView) -> None:
        """A node that had joined is gone."""
        self._kubernetes.remove_node(node.kubernetes_name)

    def autoscaling_started(self) -> None:
        """The managed Karpenter is in service, and reads its objects from now on."""
        for definition in karpenter():
            self._kubernetes.put_definition(definition)

    def marked_nodes(self) -> Mapping[str, str]:
        """Return the nodes that a label asks HyperPod to recover."""
        health = {
            node["metadata"]["name"]: (node["metadata"].get("labels") or {}).get(_HEALTH)
            for node in self._kubernetes.objects("v1", "Node")
        }
        return {
            name: value
            for name, value in health.items()
            if value in (PENDING_REBOOT, PENDING_REPLACEMENT)
        }


class LocalEventBus(EventBus):
    """Puts the events of clusters on the EventBridge of a local AWS, one after the other."""

    def __init__(self, clients: AwsClients) -> None:
        self._clients = clients
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="event-bus")

    def put(self, *, cluster_arn: str, detail_type: str, detail: Mapping[str, Any]) -> None:
        """See `hyperpod_emulator.hyperpod.EventBus`."""
        entry = {
            "Source": SAGEMAKER_EVENTS,
            "DetailType": detail_type,
            # Of the moment: what it is about goes on changing.
            "Detail": json.dumps(detail),
            "Resources": [cluster_arn],
        }
        self._worker.submit(lambda: self._clients("events").put_events(Entries=[entry]))

    def wait(self) -> None:
        """Return when what has happened is on the bus."""
        self._worker.submit(lambda: None).result()

    def stop(self) -> None:
        """Put nothing more."""
        self._worker.shutdown(cancel_futures=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class RehearsalEnvironment:
    """The local AWS, the HyperPod API behind it, and the control plane of its EKS cluster.

    What SNS topics were told is in the file of messages.
    """

    aws: LocalAws
    cdk: CdkCliProcess
    clients: AwsClients
    hyperpod: HyperPodService
    lifecycle_logs: LifecycleLogs
    bus: LocalEventBus
    messages_file: Path
    hyperpod_url: str = field(repr=False)
    kubernetes: InProcessControlPlane
    node_groups: ManagedNodes
    region: str

    @property
    def caller(self) -> Caller:
        """Whose HyperPod clusters they are."""
        return Caller(account=self.aws.account, region=self.region)


@contextmanager
def rehearsal_environment(
    *,
    account: str,
    region: str,
    kubernetes_version: str,
    eks_cluster_name: str | None,
    log_file: Path,
    cdk: CdkCliProcess | None = None,
) -> Iterator[RehearsalEnvironment]:
    """Start everything, on free ports; stop it again whatever happens.

    Nothing listens for Kubernetes without the name of an EKS cluster. Next to the log file, which
    is the local AWS's own, `allowed-calls.jsonl` gets which statements of roles allowed their
    calls, `messages.jsonl` what topics were told. A CDK CLI that is given, because it starts
    slowly, may be of several environments.

    Raises:
        LocalAwsError: The local AWS did not start.
    """
    messages = log_file.with_name(MESSAGES)
    messages.unlink(missing_ok=True)
    kubernetes = InProcessControlPlane(kubernetes_version=kubernetes_version)

    def clients(service: str) -> Any:  # noqa: ANN401 - see AwsClients
        # The local AWS is told where the HyperPod API listens, whose first caller it is.
        return clients_of_aws(service)

    logs = LifecycleLogs(
        clients, instance_facts, not_run=(OWN_SCRIPT,), environment=SCRIPTS_AT_ONCE
    )
    bus, registries = LocalEventBus(clients), RegistriesOfSubnets(clients)
    service = HyperPodService(
        clock=time.time,
        observer=KubernetesNodes(kubernetes, registries),
        scripts=logs,
        network=VpcNetwork(clients),
        bus=bus,
        hardware=instance_facts,
    )
    with ExitStack() as started:
        if eks_cluster_name is not None:
            started.enter_context(kubernetes)
        hyperpod_api = started.enter_context(HyperPodApi(service=service))
        settings = LocalAwsSettings(
            account=account,
            region=region,
            hyperpod_api=hyperpod_api.url,
            kubernetes_endpoint=kubernetes.url,
            kubernetes_ca=base64.b64encode(kubernetes.ca_pem.encode()).decode(),
            kubernetes_token=kubernetes.addons_token,
            regional_types=regional_types(),
            ended_versions=[
                version
                for version, end in END_OF_EXTENDED_SUPPORT.items()
                if datetime.now(tz=UTC).date() >= end
            ],
            instance_types=tuple(map(ec2_name, instance_types())),
            allowed_calls=str(log_file.with_name(ALLOWED_CALLS)),
            messages=str(messages),
            log_file=log_file,
        )
        aws = started.enter_context(LocalAws(settings))
        clients_of_aws = aws_clients(aws)
        cli = started.enter_context(CdkCliProcess()) if cdk is None else cdk
        started.enter_context(logs)
        started.callback(bus.stop)
        nodes = ManagedNodes(
            clients, kubernetes, eks_cluster_name or "", instance_facts, registries
        )
        if eks_cluster_name is not None:
            session = aws_session(aws)
            kubernetes.accept_eks_tokens(
                eks_cluster_name=eks_cluster_name, gateway_url=aws.endpoint, session=session
            )
            started.enter_context(nodes)
        yield RehearsalEnvironment(
            aws=aws,
            cdk=cli,
            clients=clients,
            hyperpod=service,
            lifecycle_logs=logs,
            bus=bus,
            messages_file=messages,
            hyperpod_url=hyperpod_api.url,
            kubernetes=kubernetes,
            node_groups=nodes,
            region=region,
        )
