"""A cloud with one Kubernetes API, and CloudFormation's requests for the release in it."""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyperpod_cli.helm.layer_binaries import layer_binaries
from hyperpod_emulator.kubernetes import Fault, KubernetesApi
from provisioner import handler
from tests.support.provisioner.cloudformation import STACK_ID, FakeCloudFormation, event
from tests.support.provisioner.fake_s3 import FakeS3, client_error
from tests.support.provisioner.fake_table import FakeTable
from tests.support.provisioner.helm_charts import packaged

DENIED = Fault(
    kind="Deployment", code=403, reason="Forbidden", message="denied by the quota", times=None
)
TOKEN = "k8s-aws-v1.test"  # noqa: S105 - known to the API of this test only
ID = "ml/training/deps"


def mounted_layer(folder: Path) -> Path:
    """Put the real helm and kubectl into a folder as the kubectl layer has them."""
    for binary in (layer_binaries().helm, layer_binaries().kubectl):
        (folder / binary.name).mkdir(parents=True)
        (folder / binary.name / binary.name).symlink_to(binary)
    return folder


@dataclass
class Context:
    seconds: float = 300

    def get_remaining_time_in_millis(self) -> int:
        return int(self.seconds * 1000)


@dataclass
class Cloud:
    """The clients of the handler, and CloudFormation's memory of one resource.

    Attributes:
        made: What first requests have returned, and what brings back where they led to.
    """

    api: KubernetesApi
    made: dict[object, tuple[Any, Callable[[], None]]] = field(default_factory=dict)
    s3: FakeS3 = field(default_factory=FakeS3)
    exists: bool = True
    eks_status: str = "ACTIVE"
    tags: dict[str, str] = field(default_factory=dict)
    cloudformation: FakeCloudFormation = field(default_factory=FakeCloudFormation)
    dynamodb: FakeTable = field(default_factory=FakeTable)
    requests: int = 0
    tokens: list[str] = field(default_factory=lambda: [TOKEN])
    context: Context = field(default_factory=Context)

    @property
    def eks(self) -> "Cloud":
        return self

    @property
    def token_signer(self) -> "Cloud":
        return self

    def describe_cluster(self, *, name: str) -> dict[str, Any]:
        if not self.exists:
            raise client_error("ResourceNotFoundException", "DescribeCluster", name)
        authority = base64.b64encode(self.api.ca_pem.encode()).decode()
        return {
            "cluster": {
                "name": name,
                "arn": f"arn:aws:eks:us-west-2:111122223333:cluster/{name}",
                "status": self.eks_status,
                "endpoint": self.api.url,
                "certificateAuthority": {"data": authority},
                "tags": self.tags,
            }
        }

    def token(self, _cluster_name: str) -> str:
        """Return the next token; the last one for ever."""
        return self.tokens.pop(0) if len(self.tokens) > 1 else self.tokens[0]

    def add_chart(self, version: str, changes: Mapping[str, str | None] | None = None) -> None:
        self.s3.add("assets", f"{version}.tgz", packaged(version, changes))

    def send(
        self,
        request_type: str,
        properties: dict[str, str],
        *,
        stack_id: str = STACK_ID,
        again: bool = False,
    ) -> dict[str, Any]:
        """Send a request through both entry points; `again` repeats the last one."""
        self.requests += 0 if again else 1
        return self.poll(self.start(request_type, properties, stack_id=stack_id))

    def install(self, properties: dict[str, str]) -> dict[str, Any]:
        """Send the first Create of a test, or bring back what it led to in another one."""
        chart = self.s3.bodies("assets", properties["ChartKey"])[-1]
        key = (json.dumps(properties), chart)
        answer: dict[str, Any] = self.once(key, lambda: self.send("Create", properties))
        return answer

    def once(self, key: object, work: Callable[[], Any]) -> Any:  # noqa: ANN401 - what it returns
        """Do the first request of a test, or bring back what it led to in another one."""
        before = self.requests
        if key not in self.made:
            self.made[key] = work(), self.api.kept()
        self.requests = before + 1
        answer, bring_back = self.made[key]
        bring_back()
        return answer

    def start(
        self, request_type: str, properties: dict[str, str], *, stack_id: str = STACK_ID
    ) -> dict[str, Any]:
        """Send on_event alone, and return what is_complete is sent afterwards."""
        sent = event(
            request_type,
            "Custom::HelmRelease",
            properties,
            old=properties if request_type == "Update" else None,
            physical_id=None if request_type == "Create" else ID,
            request_id=f"request-{self.requests}",
            stack_id=stack_id,
        )
        accepted = handler.on_event(sent, self.context)
        assert accepted["PhysicalResourceId"] == ID
        return {**sent, **accepted}

    def poll(self, accepted: dict[str, Any]) -> dict[str, Any]:
        """Send is_complete once."""
        return handler.is_complete(accepted, self.context)

    def operator(self) -> str | None:
        for item in self.api.objects("apps/v1", "Deployment", "kubeflow"):
            return f"{item['metadata']['labels']['version']} x{item['spec']['replicas']}"
        return None

    def status(self) -> str:
        """Return the status of the release's last revision."""
        secrets = self.api.objects("v1", "Secret", "training")
        newest = max(secrets, key=lambda secret: int(secret["metadata"]["labels"]["version"]))
        return str(newest["metadata"]["labels"]["status"])

    def uid(self, api_version: str, kind: str, name: str) -> str:
        """Return the uid of the one object of a kind and name."""
        (uid,) = [
            item["metadata"]["uid"]
            for item in self.api.objects(api_version, kind)
            if item["metadata"]["name"] == name
        ]
        return str(uid)

    def names(self, api_version: str, kind: str, namespace: str | None = None) -> list[str]:
        """Return the names of the objects of a kind."""
        return [item["metadata"]["name"] for item in self.api.objects(api_version, kind, namespace)]


def namespace(name: str, *finalizers: str) -> dict[str, Any]:
    """Return a namespace; with a finalizer its deletion does not end."""
    metadata = {"name": name, "finalizers": list(finalizers)}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def properties(
    version: str = "1.0.0",
    *,
    key: str | None = None,
    more: Mapping[str, str] | None = None,
    **values: object,
) -> dict[str, str]:
    """Return ResourceProperties; `more` are further ones, `values` are the chart's."""
    return {
        "ClusterName": "ml",
        "Release": "deps",
        "Namespace": "training",
        "ChartBucket": "assets",
        "ChartKey": key or f"{version}.tgz",
        "ChartDigest": version,
        "Values": json.dumps(values),
        **(more or {}),
    }
