"""HyperPod's health-monitoring agent, as far as it reads a node's kernel log.

On EKS it watches /var/log/messages for errors of NVIDIA's driver, and labels the node: Xid 74 for a
replacement, 73 for a reboot, half a minute later (awslabs/awsome-distributed-ai,
hyperpod-mental-model.md). Here it does so at once.
"""

import re
from pathlib import Path

from hyperpod_emulator.hyperpod.simulation.cluster_lifecycle import (
    PENDING_REBOOT,
    PENDING_REPLACEMENT,
)
from hyperpod_emulator.hyperpod.simulation.nodes import LABEL_PREFIX
from hyperpod_emulator.kubernetes.in_process import KubernetesApi
from hyperpod_emulator.kubernetes.objects.metadata import labels_of, name_of

HEALTH = f"{LABEL_PREFIX}/node-health-status"
_XID = re.compile(r"kernel: NVRM: Xid \([^)]*\): (\d+),")
_HEALTH_OF = {"73": PENDING_REBOOT, "74": PENDING_REPLACEMENT}
_AGENT = "health-monitoring-agent"


class HealthAgent:
    """Labels the nodes whose logs, in a folder of files, tell of a fault; no thread of its own."""

    def __init__(self, api: KubernetesApi, directory: Path) -> None:
        self._api = api
        self._directory = directory

    def log_of(self, node: str) -> Path:
        """Return the kernel log of a node, by the node's name."""
        return self._directory / node / "var" / "log" / "messages"

    def reconcile(self) -> None:
        """Read the log of each node on which the agent's pod runs."""
        watched = {
            pod["spec"].get("nodeName")
            for pod in self._api.objects("v1", "Pod")
            if _AGENT in name_of(pod)
        }
        for node in self._api.objects("v1", "Node"):
            name = name_of(node)
            if name in watched and self.log_of(name).exists():
                found = _XID.findall(self.log_of(name).read_text(encoding="utf-8"))
                wanted = [_HEALTH_OF[xid] for xid in found if xid in _HEALTH_OF][-1:]
                if wanted and labels_of(node).get(HEALTH) == "Schedulable":
                    patch = {"metadata": {"labels": {HEALTH: wanted[0]}}}
                    self._api.merge("v1", "Node", name, patch)
