"""A fabric between nodes, some of which or some links of which are slow, and who runs its jobs.

The jobs of the chart `validation` run as the Job controller, the MPI operator and kubelets run
them: the program of the chart is really run, with tools that tell what the fabric has.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyperpod_emulator.hardware import EFA, GPU
from hyperpod_emulator.kubernetes import KubernetesApi
from tests.support.nccl_logs import nccl_log


def names(count: int) -> tuple[str, ...]:
    """Return names of nodes, in their order."""
    return tuple(f"n{number:04}" for number in range(count))


@dataclass(frozen=True, kw_only=True, slots=True)
class Fabric:
    """What is slow.

    Attributes:
        slow: Nodes that slow down whoever they work with.
        links: Pairs of switches, each with its nodes, that are slow together.
        tcp: Nodes that use TCP.
    """

    slow: Collection[str] = ()
    links: Sequence[tuple[Collection[str], Collection[str]]] = ()
    tcp: Collection[str] = ()

    def is_slow(self, group: Collection[str]) -> bool:
        """Say whether an operation of all nodes of a group is slow."""
        return any(node in self.slow for node in group) or any(
            any(node in one for node in group) and any(node in two for node in group)
            for one, two in self.links
        )


_NVIDIA_SMI = """#!/bin/sh
case "$1" in
--query-gpu=*)
  echo "index, name, pci.bus_id, driver_version, ecc.errors.uncorrected.volatile.total"
  n=0
  while [ "$n" -lt "$GPUS" ]; do
    echo "$n, NVIDIA H100 80GB HBM3, 00000000:5$n:00.0, 570.133.20, 0"
    n=$((n + 1))
  done ;;
*) echo "gpu_bus_id, remapped_rows.pending, remapped_rows.failure" ;;
esac
"""
_FI_INFO = """#!/bin/sh
n=0
while [ "$n" -lt "$EFA" ]; do
  printf 'provider: efa\\n    fabric: efa-direct\\n    domain: rdmap%s-rdm\\n' "$n"
  printf 'provider: efa\\n    fabric: efa\\n    domain: rdmap%s-rdm\\n' "$n"
  n=$((n + 1))
done
"""
_FIO = """#!/bin/sh
echo 'fio: a note before it'
echo '{"jobs": [{"error": 0, "read": {"bw_bytes": 2000000000}, "write": {"bw_bytes": 1000000000}}]}'
"""
_TORCHRUN = "#!/bin/sh\nexit 0\n"
_TOOLS = {"nvidia-smi": _NVIDIA_SMI, "fi_info": _FI_INFO, "fio": _FIO, "torchrun": _TORCHRUN}


@dataclass(kw_only=True)
class Player:
    """Runs the jobs of a cluster: at the first look at one it starts its pods, then they end.

    Attributes:
        api: The cluster.
        fabric: What carries data between its nodes.
        folder: Gets the tools.
        seconds: What its clock tells.
        before_tick: Called before each look. Default: nothing.
    """

    api: KubernetesApi
    fabric: Fabric
    folder: Path
    seconds: float = 0.0
    before_tick: Callable[["Player"], None] = lambda _player: None
    started: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, script in _TOOLS.items():
            (self.folder / name).write_text(script)
            (self.folder / name).chmod(0o755)

    def clock(self) -> float:
        """Tell the time."""
        return self.seconds

    def tick(self, seconds: float) -> None:
        """Let time pass."""
        self.before_tick(self)
        self.seconds += seconds
        for kind, api_version in (("Job", "batch/v1"), ("MPIJob", "kubeflow.org/v2beta1")):
            for job in self.api.objects(api_version, kind):
                name = job["metadata"]["name"]
                if name not in self.started:
                    self.started[name] = self._start(job)
                elif self.started[name]:
                    self._end(job)

    def _start(self, job: dict[str, Any]) -> list[str]:
        name, pods = job["metadata"]["name"], []
        if job["kind"] == "Job":
            template = job["spec"]["template"]
            for number, node in enumerate(_nodes(template)[: job["spec"].get("completions", 99)]):
                pod = f"{name}-{number}"
                labels = {"batch.kubernetes.io/job-name": name}
                pods.append(self._pod(job, template, pod, node, labels=labels))
            return pods
        roles = job["spec"]["mpiReplicaSpecs"]
        workers = roles["Worker"]["template"]
        for number, node in enumerate(_nodes(workers)):
            labels = {"training.kubeflow.org/job-name": name}
            role = {"training.kubeflow.org/job-role": "worker"}
            self._pod(job, workers, f"{name}-worker-{number}", node, labels={**labels, **role})
        role = {"training.kubeflow.org/job-role": "launcher"}
        launcher = roles["Launcher"]["template"]
        node = _nodes(launcher)[0]
        return [self._pod(job, launcher, f"{name}-launcher", node, labels={**labels, **role})]

    def _pod(
        self,
        job: dict[str, Any],
        template: dict[str, Any],
        name: str,
        node: str,
        *,
        labels: dict[str, str],
    ) -> str:
        metadata = {
            "name": name,
            "namespace": "default",
            "labels": {**template["metadata"]["labels"], **labels},
            "ownerReferences": [
                {
                    "apiVersion": job["apiVersion"],
                    "kind": job["kind"],
                    "name": job["metadata"]["name"],
                    "uid": job["metadata"]["uid"],
                }
            ],
        }
        spec = {**template["spec"], "nodeName": node}
        limits = spec["containers"][0].get("resources", {}).get("limits", {})
        item = next(
            each for each in self.api.objects("v1", "Node") if each["metadata"]["name"] == node
        )
        for device in (GPU, EFA):
            offered = int(item["status"]["allocatable"].get(device, "0"))
            assert int(limits.get(device, 0)) <= offered, f"{name} waits for {device} on {node}"
        self.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
        self._status(name, spec, {"running": {}}, "Running")
        return name

    def _status(
        self, name: str, spec: dict[str, Any], state: Mapping[str, Any], phase: str
    ) -> None:
        container = spec["containers"][0]
        status = {
            "name": container["name"],
            "image": container["image"],
            "imageID": "",
            "ready": phase == "Running",
            "restartCount": 0,
            "state": state,
        }
        done = {"phase": phase, "containerStatuses": [status]}
        self.api.set_status("v1", "Pod", name, done, namespace="default")

    def _end(self, job: dict[str, Any]) -> None:
        name = job["metadata"]["name"]
        there = {pod["metadata"]["name"]: pod for pod in self.api.objects("v1", "Pod", "default")}
        for pod_name in self.started[name]:
            pod = there[pod_name]
            container = pod["spec"]["containers"][0]
            output, code = (
                (self._nccl(job), 0)
                if job["kind"] == "MPIJob"
                else self._program(container["command"], pod["spec"]["nodeName"])
            )
            self.api.write_log(pod_name, output, namespace="default", container=container["name"])
            ended = {"terminated": {"exitCode": code}}
            self._status(pod_name, pod["spec"], ended, "Failed" if code else "Succeeded")
        if job["kind"] == "MPIJob":  # cleanPodPolicy: Running
            for pod_name in there:
                if pod_name.startswith(f"{name}-worker-"):
                    self.api.delete("v1", "Pod", pod_name, namespace="default")
        self.started[name] = []

    def _nccl(self, job: dict[str, Any]) -> str:
        nodes = _nodes(job["spec"]["mpiReplicaSpecs"]["Worker"]["template"])
        hosts = [f"{job['metadata']['name']}-worker-{number}" for number in range(len(nodes))]
        tcp = [host for host, node in zip(hosts, nodes, strict=True) if node in self.fabric.tcp]
        bandwidth = 3.0 if tcp else 90.0 if self.fabric.is_slow(nodes) else 480.0
        return nccl_log(hosts, bandwidth=bandwidth, on_tcp=tcp)

    def _program(self, command: Sequence[str], node: str) -> tuple[str, int]:
        item = next(
            each for each in self.api.objects("v1", "Node") if each["metadata"]["name"] == node
        )
        offered = item["status"]["allocatable"]
        (code,) = (
            each["data"]["node_check.py"]
            for each in self.api.objects("v1", "ConfigMap", "default")[:1]
        )
        (self.folder / "node_check.py").write_text(code)
        storage = [each.replace("--folder=/fsx", f"--folder={self.folder}") for each in command[2:]]
        done = subprocess.run(
            [sys.executable, self.folder / "node_check.py", *storage],
            env={
                "PATH": f"{self.folder}{os.pathsep}{os.defpath}",
                "GPUS": offered.get(GPU, "0"),
                "EFA": offered.get(EFA, "0"),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert not done.stderr, done.stderr
        assert all(json.loads(line) for line in done.stdout.splitlines())
        return done.stdout, done.returncode


def _nodes(template: Mapping[str, Any]) -> list[str]:
    required = template["spec"]["affinity"]["nodeAffinity"]
    terms = required["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    return [term["matchFields"][0]["values"][0] for term in terms]
