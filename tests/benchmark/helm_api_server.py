"""Runs the rehearsal's Kubernetes API until standard input ends.

Run as `python -m tests.benchmark.helm_api_server`; prints one line of JSON: where it listens, its
certificate authority, and where helm and kubectl are.
"""

import json
import sys

from emulator.kubernetes import KubernetesApi, Principal, static_tokens
from hyperpod_cli.helm.layer_binaries import layer_binaries

TOKEN = "k8s-aws-v1.benchmark"  # noqa: S105 - known to this API only


def main() -> None:
    """Serve."""
    anybody = static_tokens({TOKEN: Principal(username="benchmark", allowed=True)})
    binaries = layer_binaries()
    with KubernetesApi(authenticate=anybody) as api:
        about = {
            "url": api.url,
            "ca": api.ca_pem,
            "token": TOKEN,
            "helm": str(binaries.helm),
            "kubectl": str(binaries.kubectl),
        }
        print(json.dumps(about), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
