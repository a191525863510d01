"""Sends requests to the provisioner's handler, as CDK's provider framework does.

Run as `python -m tests.benchmark.helm_handler_run ABOUT`, where ABOUT is JSON that says where the
Kubernetes API, helm, kubectl and the folder `charts` are. Each line of standard input is a request,
"Create large-1.0.0.tgz"; each line of output its seconds. The last line of output is the memory.
"""

import base64
import io
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from provisioner import handler
from tests.support.provisioner.cloudformation import FakeCloudFormation


class Clients:
    """AWS as far as a Helm release needs it: one cluster, and charts in a folder."""

    def __init__(self, about: Mapping[str, str]) -> None:
        self._about = about
        self.eks = self.token_signer = self.s3 = self
        self.cloudformation = FakeCloudFormation()

    def describe_cluster(self, *, name: str) -> dict[str, Any]:
        """Return the cluster."""
        authority = {"data": base64.b64encode(self._about["ca"].encode()).decode()}
        arn = f"arn:aws:eks:us-west-2:111122223333:cluster/{name}"
        cluster = {"name": name, "arn": arn, "endpoint": self._about["url"], "status": "ACTIVE"}
        return {"cluster": {**cluster, "certificateAuthority": authority}}

    def token(self, _cluster_name: str) -> str:
        """Return the token of the API."""
        return self._about["token"]

    def get_object(self, *, Bucket: str, Key: str, **_owner: str) -> dict[str, Any]:
        """Return a chart."""
        return {"Body": io.BytesIO((Path(Bucket) / Key).read_bytes())}


class Context:
    """A function with all its time left."""

    def get_remaining_time_in_millis(self) -> int:
        """Return the milliseconds of fourteen minutes."""
        return 14 * 60 * 1000


def main() -> None:
    """Serve requests."""
    about: dict[str, str] = json.loads(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        for name in ("helm", "kubectl"):
            (Path(folder) / name).mkdir()
            (Path(folder) / name / name).symlink_to(about[name])
        os.environ["_LAMBDA_LAYERS_DIRS"] = folder
        vars(handler)["CLIENTS"] = Clients(about)
        for number, line in enumerate(sys.stdin):
            request_type, chart = line.split()
            print(_seconds(request_type, chart, about["charts"], number), flush=True)
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(json.dumps({"own_kib": own, "child_kib": child}))


def _seconds(request_type: str, chart: str, charts: str, number: int) -> float:
    sent = {
        "RequestType": request_type,
        "ResourceType": "Custom::HelmRelease",
        "RequestId": f"request-{number}",
        "StackId": "arn:aws:cloudformation:us-west-2:111122223333:stack/benchmark/0",
        "LogicalResourceId": "Resource",
        "ResourceProperties": {
            "ClusterName": "benchmark",
            "Release": "large",
            "Namespace": "kube-system",
            "ChartBucket": charts,
            "ChartKey": chart,
            "ChartDigest": chart,
            "Values": "{}",
        },
    }
    with redirect_stdout(io.StringIO()):
        begun = time.perf_counter()
        accepted = handler.on_event(sent, Context())
        done = handler.is_complete({**sent, **accepted}, Context())
        seconds = time.perf_counter() - begun
    assert done["IsComplete"], done
    return seconds


if __name__ == "__main__":
    main()
