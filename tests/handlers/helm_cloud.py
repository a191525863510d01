"""A cloud with one Kubernetes API, and what a test does to the release in it."""

import base64
import io
import json
import subprocess
import tarfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from provisioner import handler
from provisioner.errors import ProvisioningError
from rehearsal.kubernetes_api import Fault, KubernetesApi
from rehearsal.layer_binaries import layer_binaries
from tests.handlers.cloudformation import STACK_ID, event
from tests.handlers.fake_s3 import FakeS3, client_error

DENIED = Fault(
    kind="Deployment", code=403, reason="Forbidden", message="denied by the quota", times=None
)
TOKEN = "k8s-aws-v1.test"  # noqa: S105 - known to the API of this test only
ID = "ml/training/deps"
CHART = {
    "Chart.yaml": "apiVersion: v2\nname: deps\nversion: {version}\n",
    "values.yaml": "replicas: 1\nbroken: false\n",
    "templates/namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {{name: kubeflow}}\n",
    "templates/operator.yaml": """
apiVersion: apps/v1
kind: Deployment
metadata: {{name: operator, namespace: kubeflow, labels: {{version: "{version}"}}}}
spec:
  replicas: {{{{ .Values.replicas }}}}
  selector: {{matchLabels: {{app: operator}}}}
  template:
    metadata: {{labels: {{app: operator}}}}
    spec: {{containers: [{{name: c, image: "example/operator:{version}"}}]}}
""",
    "templates/refused.yaml": '{{{{ if .Values.broken }}}}{{{{ fail "no such" }}}}{{{{ end }}}}',
    "crds/job.yaml": """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: jobs.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{kind: Job, plural: jobs, singular: job}}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {{openAPIV3Schema: {{type: object}}}}
""",
}


def chart_files(version: str) -> dict[str, bytes]:
    return {path: text.format(version=version).encode() for path, text in CHART.items()}


def packaged(version: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, content in chart_files(version).items():
            member = tarfile.TarInfo(f"deps/{path}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


@dataclass
class Context:
    seconds: float = 300

    def get_remaining_time_in_millis(self) -> int:
        return int(self.seconds * 1000)


@dataclass
class Cloud:
    """The clients of the handler, and CloudFormation's memory of one resource."""

    api: KubernetesApi
    s3: FakeS3 = field(default_factory=FakeS3)
    exists: bool = True
    requests: int = 0
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
        cluster = {"endpoint": self.api.url, "certificateAuthority": {"data": authority}}
        return {"cluster": {**cluster, "status": "ACTIVE"}}

    def token(self, _cluster_name: str) -> str:
        return TOKEN

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
        return handler.is_complete({**sent, **accepted}, self.context)

    def operator(self) -> str | None:
        for item in self.api.objects("apps/v1", "Deployment", "kubeflow"):
            return f"{item['metadata']['labels']['version']} x{item['spec']['replicas']}"
        return None


def properties(
    version: str = "1.0.0", *, key: str | None = None, **values: object
) -> dict[str, str]:
    return {
        "ClusterName": "ml",
        "Release": "deps",
        "Namespace": "training",
        "ChartBucket": "assets",
        "ChartKey": key or f"{version}.tgz",
        "ChartDigest": version,
        "Values": json.dumps(values),
    }


def delay_writes(cloud: Cloud) -> None:
    cloud.api.inject(Fault(kind="Deployment", delay_seconds=8, times=None))


def kill_helm_in(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, request_type: str, wanted: dict[str, str]
) -> None:
    """Let helm die in the middle of its work, as it does when Lambda ends the function."""
    delay_writes(cloud)
    started: list[subprocess.Popen[str]] = []

    class Remembered(subprocess.Popen[str]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self)

    def kill_when_pending() -> None:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if cloud.api.objects("v1", "Secret", "training") and "pending" in status_of(cloud):
                started[-1].kill()
                return
            time.sleep(0.02)

    killer = Thread(target=kill_when_pending)
    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "Popen", Remembered)
        killer.start()
        with pytest.raises(ProvisioningError, match="killed by signal 9"):
            cloud.send(request_type, wanted)
        killer.join()
    cloud.api.clear_faults()


def status_of(cloud: Cloud) -> str:
    secrets = cloud.api.objects("v1", "Secret", "training")
    newest = max(secrets, key=lambda secret: int(secret["metadata"]["labels"]["version"]))
    return str(newest["metadata"]["labels"]["status"])


def helm_by_hand(cloud: Cloud, home: Path, *arguments: str) -> None:
    authority = home / "ca.pem"
    authority.write_text(cloud.api.ca_pem)
    access = ["--kube-apiserver", cloud.api.url, "--kube-token", TOKEN]
    trust = ["--kube-ca-file", str(authority), "--namespace", "training"]
    subprocess.run(
        [str(layer_binaries().helm), *arguments, *access, *trust],
        check=True,
        capture_output=True,
        env={"HOME": str(home)},
    )
