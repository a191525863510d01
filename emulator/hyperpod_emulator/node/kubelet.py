"""Scheduler and kubelet of the pods whose images this machine can run, as processes of it.

All other pods are left to what the control plane says of them. A container has the users and the
devices of this machine: only its environment, its volumes, the names of headless Services
(`containers.py`) and, with the other pods, a network (`pod_network.py`) are its own.
"""

import base64
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hyperpod_emulator.aws.local_aws import free_port
from hyperpod_emulator.kubernetes.controllers.scheduling import runs_on
from hyperpod_emulator.kubernetes.controllers.workloads import quantity
from hyperpod_emulator.kubernetes.in_process import KubernetesApi
from hyperpod_emulator.kubernetes.objects.errors import Object
from hyperpod_emulator.kubernetes.objects.metadata import (
    has_condition,
    labels_of,
    matches_selector,
    name_of,
    namespace_of,
    now,
)
from hyperpod_emulator.node.containers import (
    ContainerProcess,
    Translation,
    environment_of,
    expanded,
)
from hyperpod_emulator.node.pod_network import PodNetwork

FINALIZER = "emulator.invalid/kubelet"
"""Keeps a deleted pod until its processes have ended, as a kubelet does."""
_GRACE_SECONDS = 30
# https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy
_BACKOFF_SECONDS, _LONGEST_BACKOFF_SECONDS = 10.0, 300.0
_ENDED = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class Line:
    """A line that a container wrote: when, which pod, and what."""

    time: float
    pod: str
    text: str


@dataclass(slots=True)
class _Container:
    """What becomes of one container of a pod."""

    process: ContainerProcess | None = None
    started: str = ""
    ended: str = ""
    code: int | None = None
    restarts: int = 0
    due: float = 0.0
    refused: str = ""


@dataclass(slots=True)
class _Pod:
    """What a pod has on this machine."""

    folder: Path
    started: str
    ports: dict[int, int]
    containers: dict[str, _Container]
    killed_at: float | None = None


@dataclass(slots=True)
class Kubelet:
    """Keeps the processes of pods as the pods say; no thread of its own.

    Attributes:
        images: Environment in which each image's commands run, by the image; it is all that a
            command gets of this machine's.
        claims: Folder of this machine that stands for a PersistentVolumeClaim, by its name.
        network: Of all pods.
    """

    api: KubernetesApi
    images: Mapping[str, Mapping[str, str]]
    claims: Mapping[str, Path]
    network: PodNetwork = field(default_factory=PodNetwork)
    lines: list[Line] = field(default_factory=list)
    _pods: dict[str, _Pod] = field(default_factory=dict)
    _listed: list[Object] = field(default_factory=list)

    def reconcile(self) -> None:
        """Place, start, restart and end what there is to."""
        nodes = {name_of(node): node for node in self.api.objects("v1", "Node")}
        self._listed = self.api.objects("v1", "Pod")
        for uid in self._pods.keys() - {pod["metadata"]["uid"] for pod in self._listed}:
            _clear(self._pods.pop(uid))
        for pod in [each for each in self._listed if self._is_played(each)]:
            uid = pod["metadata"]["uid"]
            if pod["metadata"].get("deletionTimestamp"):
                self._end(pod, at_once=pod["spec"].get("nodeName") not in nodes)
            elif not pod["spec"].get("nodeName"):
                self._place(pod, nodes.values())
            elif (pod.get("status") or {}).get("phase") not in _ENDED:
                if uid not in self._pods:
                    self._pods[uid] = _new(pod)
                self._run(pod, self._pods[uid])

    def stop(self) -> None:
        """End all processes at once."""
        for known in self._pods.values():
            _clear(known)
        self._pods.clear()
        self.network.close()

    def _is_played(self, pod: Object) -> bool:
        return all(each["image"] in self.images for each in pod["spec"]["containers"])

    def _place(self, pod: Object, nodes: Iterable[Object]) -> None:
        """Bind a pod to the first node that takes it and has what it requests; or let it wait."""
        for node in nodes:
            if (
                has_condition(node, "Ready")
                and runs_on(node, pod["spec"], daemon=False)
                and _fits(pod, node, self._listed)
            ):
                bound = {
                    "metadata": {"finalizers": [FINALIZER]},
                    "spec": {"nodeName": name_of(node)},
                }
                self._listed.append(
                    self.api.merge("v1", "Pod", name_of(pod), bound, namespace=namespace_of(pod))
                )
                return
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        self._report(pod, {"phase": "Pending", "conditions": [condition]})

    def _run(self, pod: Object, known: _Pod) -> None:
        """Start the containers that do not run, and write what becomes of all."""
        policy = pod["spec"].get("restartPolicy", "Always")
        for container in pod["spec"]["containers"]:
            state = known.containers[container["name"]]
            if state.process is not None and state.code is None:
                state.code, state.ended = state.process.exit_code, now()
            if state.code is not None and (
                policy == "Always" or (policy == "OnFailure" and state.code)
            ):
                pause = _BACKOFF_SECONDS * 2 ** (state.restarts - 1) if state.restarts else 0.0
                state.due = time.monotonic() + min(pause, _LONGEST_BACKOFF_SECONDS)
                state.process, state.code = None, None
                state.restarts += 1
            if state.process is None and time.monotonic() >= state.due:
                self._start(pod, container, known, state)
        self._report(pod, _status(pod, known))

    def _start(self, pod: Object, container: Object, known: _Pod, state: _Container) -> None:
        """Start a container, once what it names of other pods listens.

        A headless Service's name leads nowhere before its pod is ready, and a process that finds
        no one ends and is started again; waiting comes to the same, sooner.
        """
        given = {**self.images[container["image"]], "HOME": str(known.folder)}
        given["HOSTNAME"] = name_of(pod)
        try:
            given |= environment_of(container, pod=self._described(pod), data=self._data(pod))
        except KeyError as error:
            # https://kubernetes.io/docs/concepts/configuration/secret/#restriction-names-data
            state.refused = f"couldn't find {error}"
            return
        state.refused = ""
        endpoints = dict(self._endpoints(pod))
        meaning = Translation(paths=self._paths(pod, container, known), endpoints=endpoints)
        words = [*(container.get("command") or ()), *(container.get("args") or ())]
        command = [expanded(word, given) for word in words]
        others = meaning.ports([*command, *given.values()]) - {*known.ports.values()}
        if not all(map(self.network.is_listening, others)):
            return
        name = container["name"]

        def write(line: bytes) -> None:
            text = line.decode(errors="replace")
            self.lines.append(Line(time.time(), name_of(pod), text))
            self.api.write_log(name_of(pod), text, container=name, namespace=namespace_of(pod))

        self.api.write_log(name_of(pod), "", container=name, namespace=namespace_of(pod), anew=True)
        environment = {key: meaning.of(value) for key, value in given.items()}
        state.started, state.code = now(), None
        state.process = ContainerProcess(
            identifier=f"{pod['metadata']['uid']}/{name}/{state.restarts}",
            command=self.network.entering(
                [_found(meaning.of(command[0]), environment), *map(meaning.of, command[1:])]
            ),
            environment=environment,
            directory=known.folder,
            write=write,
        )

    def _described(self, pod: Object) -> Object:
        """Return a pod with the addresses that its environment may refer to."""
        status = {**(pod.get("status") or {}), "podIP": "127.0.0.1", "hostIP": "127.0.0.1"}
        return {**pod, "status": status}

    def _end(self, pod: Object, *, at_once: bool) -> None:
        """End a deleted pod's processes: by SIGTERM, and by SIGKILL when its grace is over."""
        known = self._pods.get(pod["metadata"]["uid"])
        if known is not None:
            running = [each.process for each in known.containers.values() if each.process]
            if known.killed_at is None and not at_once:
                grace = pod["spec"].get("terminationGracePeriodSeconds", _GRACE_SECONDS)
                known.killed_at = time.monotonic() + grace
                for process in running:
                    process.terminate()
            in_grace = known.killed_at is not None and time.monotonic() < known.killed_at
            if in_grace and any(process.exit_code is None for process in running):
                return
            _clear(self._pods.pop(pod["metadata"]["uid"]))
        kept = [each for each in pod["metadata"].get("finalizers") or () if each != FINALIZER]
        patch = {"metadata": {"finalizers": kept}}
        self.api.merge("v1", "Pod", name_of(pod), patch, namespace=namespace_of(pod))

    def _report(self, pod: Object, status: Object) -> None:
        if {**(pod.get("status") or {}), **status} != pod.get("status"):
            space = namespace_of(pod)
            self.api.set_status("v1", "Pod", name_of(pod), status, namespace=space)

    def _data(self, pod: Object) -> Callable[[str, str], Mapping[str, str] | None]:
        def data(kind: str, name: str) -> Mapping[str, str] | None:
            for each in self.api.objects("v1", kind, namespace_of(pod)):
                if name_of(each) == name:
                    held = each.get("data") or {}
                    if kind == "ConfigMap":
                        return held
                    return {key: base64.b64decode(value).decode() for key, value in held.items()}
            return None

        return data

    def _endpoints(self, pod: Object) -> Iterator[tuple[str, int]]:
        """Yield `name:port` of the headless Services that select a pod, and its port; 0 if none."""
        for service in self.api.objects("v1", "Service", namespace_of(pod)):
            spec = service["spec"]
            if spec.get("clusterIP") != "None" or not spec.get("selector"):
                continue
            selected = next(
                (
                    self._pods[each["metadata"]["uid"]].ports
                    for each in self._listed
                    if each["metadata"]["uid"] in self._pods
                    and matches_selector(labels_of(each), {"matchLabels": spec["selector"]})
                ),
                {},
            )
            for port in spec.get("ports") or ():
                target = port.get("targetPort", port["port"])
                yield f"{name_of(service)}:{port['port']}", selected.get(target, 0)

    def _paths(self, pod: Object, container: Object, known: _Pod) -> dict[str, Path]:
        """Return the folder behind each mount; other kinds of volumes are this machine's paths."""
        volumes = {each["name"]: each for each in pod["spec"].get("volumes") or ()}
        found = {}
        for mount in container.get("volumeMounts") or ():
            volume = volumes[mount["name"]]
            claim = self.claims.get(
                (volume.get("persistentVolumeClaim") or {}).get("claimName", "")
            )
            if claim is not None:
                found[mount["mountPath"]] = claim / mount.get("subPath", "")
            elif "emptyDir" in volume and mount["mountPath"] != "/dev/shm":  # noqa: S108 - a mount
                found[mount["mountPath"]] = known.folder / mount["name"]
            elif "secret" in volume:
                found[mount["mountPath"]] = folder = known.folder / mount["name"]
                folder.mkdir(mode=0o700, exist_ok=True)
                held = self._data(pod)("Secret", volume["secret"]["secretName"])
                for key, text in (held or {}).items():
                    (folder / key).write_text(text, "utf-8")
        for folder in found.values():
            folder.mkdir(parents=True, exist_ok=True)
        return found


def _new(pod: Object) -> _Pod:
    ports = {
        port["containerPort"]: free_port()
        for container in pod["spec"]["containers"]
        for port in container.get("ports") or ()
    }
    return _Pod(
        folder=Path(tempfile.mkdtemp(prefix=f"{name_of(pod)}-")),
        started=now(),
        ports=ports,
        containers={each["name"]: _Container() for each in pod["spec"]["containers"]},
    )


def _clear(known: _Pod) -> None:
    for each in known.containers.values():
        if each.process is not None:
            each.process.kill()
    shutil.rmtree(known.folder, ignore_errors=True)


def _fits(pod: Object, node: Object, pods: Iterable[Object]) -> bool:
    """Say whether a node has what a pod requests besides what its pods do."""
    there = [
        each
        for each in pods
        if each["spec"].get("nodeName") == name_of(node)
        and (each.get("status") or {}).get("phase") not in _ENDED
    ]
    allocatable = (node.get("status") or {}).get("allocatable") or {}
    return all(
        sum(_requests(each).get(name, 0.0) for each in there) + wanted
        <= quantity(allocatable.get(name, "0"))
        for name, wanted in _requests(pod).items()
    )


def _requests(pod: Object) -> dict[str, float]:
    """Return what all containers of a pod request; a limit stands for a request that is not there.

    https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#requests-and-limits
    """
    total: dict[str, float] = {}
    for container in pod["spec"]["containers"]:
        resources = container.get("resources") or {}
        wanted = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
        for name, value in wanted.items():
            total[name] = total.get(name, 0.0) + quantity(value)
    return total


def _status(pod: Object, known: _Pod) -> Object:
    """Return what a kubelet writes of a pod.

    https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-phase
    """
    states = known.containers.values()
    if all(each.code is not None for each in states):
        phase = "Failed" if any(each.code for each in states) else "Succeeded"
    else:
        phase = "Running" if any(each.process for each in states) else "Pending"
    containers = [
        {
            "name": each["name"],
            "image": each["image"],
            "imageID": "",
            "ready": _state(known.containers[each["name"]]).keys() == {"running"},
            "restartCount": known.containers[each["name"]].restarts,
            "state": _state(known.containers[each["name"]]),
        }
        for each in pod["spec"]["containers"]
    ]
    ready = all(each["ready"] for each in containers)
    return {
        "phase": phase,
        "startTime": known.started,
        "podIP": "127.0.0.1",
        "conditions": [
            {"type": "PodScheduled", "status": "True"},
            {"type": "Ready", "status": str(ready)},
        ],
        "containerStatuses": containers,
    }


def _state(container: _Container) -> Object:
    if container.process is None:
        if container.refused:
            waiting = {"reason": "CreateContainerConfigError", "message": container.refused}
        else:
            reason = "CrashLoopBackOff" if container.restarts else "ContainerCreating"
            waiting = {"reason": reason}
        return {"waiting": waiting}
    if container.code is None:
        return {"running": {"startedAt": container.started}}
    reason = "Error" if container.code else "Completed"
    return {
        "terminated": {
            "exitCode": container.code,
            "reason": reason,
            "startedAt": container.started,
            "finishedAt": container.ended,
        }
    }


def _found(program: str, environment: Mapping[str, str]) -> str:
    """Return where a program is on the container's PATH; itself if it is not."""
    return shutil.which(program, path=environment.get("PATH", os.defpath)) or program
