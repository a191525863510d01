"""Runs jobs of the chart at the same time, and deletes each when it is done or given up."""

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import typer

from hyperpod_cli.aws.kubernetes_api import condition
from hyperpod_cli.operate.job_charts import (
    Connect,
    Log,
    Object,
    delete,
    live,
    pods,
    submit,
    warning,
)
from hyperpod_cli.operate.validation.recorded import Recorded
from hyperpod_cli.terminal.errors import FailedError, TransientError

LABELS = {"app.kubernetes.io/name": "validation"}
JOB = "batch.kubernetes.io/job-name"
# Of the MPI operator's pods: https://github.com/kubeflow/mpi-operator/blob/master/pkg/apis/kubeflow/v2beta1/types.go
MPI_JOB, MPI_ROLE = "training.kubeflow.org/job-name", "training.kubeflow.org/job-role"
_UNPULLED = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName")
# containerd's, of an image without the command:
# https://github.com/containerd/containerd/blob/main/internal/cri/server/helpers.go
_UNSTARTED = "StartError"
_ENDED = ("Succeeded", "Failed")
_BEGUN = ("Running", *_ENDED)
_DEADLINE = "DeadlineExceeded"
_DELETED = "it was deleted"
_FIRST_NOTICE_SECONDS, _NOTICE_SECONDS = 30.0, 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """A job.

    Attributes:
        objects: What is submitted; the last one is the job.
        written_by: Labels of the pods whose logs are its results.
        pods: How many of them there are.
        all_pods: Labels of all its pods, whose nodes are to be known. Default: those that write.
    """

    objects: Sequence[Object]
    written_by: Mapping[str, str]
    pods: int = 1
    all_pods: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class JobOutcome:
    """What came of a job.

    Attributes:
        error: Why there is no result; empty if there is.
        is_of_nodes: Whether its nodes may be why: its pods began, and no one ended them.
    """

    lines: Mapping[str, Sequence[str]]
    node_of: Mapping[str, str]
    error: str
    is_of_nodes: bool


@dataclass(frozen=True, kw_only=True)
class Runner:
    """Runs jobs.

    Attributes:
        recorded: Keeps what is in the cluster, should this process be killed.
    """

    connect: Connect
    namespace: str
    recorded: Recorded
    timeout_seconds: float
    every_seconds: float
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def run(
        self, works: Sequence[Work], *, shared: Sequence[Object] = ()
    ) -> Generator[tuple[Work, JobOutcome], None, None]:
        """Submit jobs, and yield each with its outcome when it is done and deleted.

        Whatever ends this early, nothing of them stays in the cluster, nor of what they share.
        OpsError: the API refused something, or the image cannot be pulled, which holds for all.
        """
        waiting = [*works]
        seen = _Seen()
        try:
            self._submit(shared)
            for work in works:
                self._submit(work.objects)
            began = self.clock()
            notice = began + _FIRST_NOTICE_SECONDS
            while waiting:
                is_late = self.clock() >= began + self.timeout_seconds
                with suppress(TransientError):
                    for work, outcome in self._ended(waiting, seen, is_late=is_late):
                        waiting.remove(work)
                        # What is not deleted now is kept in mind, and deleted at the end.
                        with suppress(TransientError):
                            self.delete(work.objects)
                        yield work, outcome
                if waiting and not seen.begun and self.clock() >= notice:
                    notice = self.clock() + _NOTICE_SECONDS
                    typer.echo(f"0 of {len(works)} checks have begun; their pods: {seen.wait}")
                if waiting:
                    self.sleep(self.every_seconds)
        finally:
            self.delete([*shared, *(item for work in waiting for item in work.objects)])

    def _submit(self, objects: Sequence[Object]) -> None:
        self.recorded.submitted += [_reference(item) for item in objects]
        self.recorded.save()
        with self.connect() as api:
            submit(api, objects)

    def delete(self, objects: Sequence[Object]) -> None:
        """Delete objects, and forget them."""
        with self.connect() as api:
            delete(api, objects)
        gone = [_reference(item) for item in objects]
        self.recorded.submitted = [item for item in self.recorded.submitted if item not in gone]
        self.recorded.save()

    def _ended(
        self, works: Sequence[Work], seen: "_Seen", *, is_late: bool
    ) -> Iterator[tuple[Work, JobOutcome]]:
        with self.connect() as api:
            there = pods(api, namespace=self.namespace, labels=LABELS)
        seen.node_of |= {
            pod["metadata"]["name"]: pod["spec"]["nodeName"]
            for pod in there
            if pod["spec"].get("nodeName")
        }
        for work in [*works]:
            its_pods = _having(there, work.written_by)
            every = _having(there, work.all_pods or work.written_by)
            ended = [pod for pod in its_pods if _phase(pod) in _ENDED]
            if any(_phase(pod) in _BEGUN for pod in every):
                seen.begun.add(id(work))
            if unusable := next(filter(None, map(_unusable, every)), ""):
                raise FailedError(unusable)
            disrupted = next(filter(None, map(_disruption, every)), "")
            lines: dict[str, list[str]] = {}
            error, blamed = disrupted, not disrupted
            if len(ended) == work.pods:
                lines = {
                    pod["spec"].get("nodeName", ""): [*Log(self.connect, pod).lines()]
                    for pod in ended
                }
            elif is_late or len(its_pods) < work.pods:
                failure = self._failure(work)
                # Kubernetes deletes the pods of a job whose time is over.
                ran = id(work) in seen.begun and (bool(its_pods) or _DEADLINE in failure)
                blamed &= ran and failure != _DELETED
                error = disrupted or failure or (_why(every) if is_late else "")
                if not error:
                    continue
            else:
                continue
            node_of = dict(seen.node_of)
            yield work, JobOutcome(lines=lines, node_of=node_of, error=error, is_of_nodes=blamed)
        pending = [pod for pod in there if _phase(pod) not in _BEGUN]
        seen.wait = _unscheduled(there) or (f"{len(pending)} Pending" if pending else "none yet")
        if works and not there:
            with self.connect() as api:
                job = live(api, works[0].objects[-1])
                seen.wait = (job and warning(api, job)) or seen.wait

    def _failure(self, work: Work) -> str:
        """Return why a job has failed, such as that its time is over; empty if it has not."""
        with self.connect() as api:
            job = live(api, work.objects[-1])
        if job is None:
            return _DELETED
        failed = condition(job, "Failed")
        return "" if failed is None else f"{failed.get('reason')}: {failed.get('message')}"


@dataclass(kw_only=True)
class _Seen:
    """What was seen of jobs: nodes of pods, jobs whose pods began, and what the others wait for."""

    node_of: dict[str, str] = field(default_factory=dict)
    begun: set[int] = field(default_factory=set)
    wait: str = "none yet"


def _reference(item: Object) -> dict[str, Any]:
    names = {key: item["metadata"][key] for key in ("name", "namespace")}
    return {"apiVersion": item["apiVersion"], "kind": item["kind"], "metadata": names}


def _having(there: Sequence[Object], labels: Mapping[str, str]) -> list[Object]:
    return [pod for pod in there if labels.items() <= pod["metadata"]["labels"].items()]


def _unusable(pod: Object) -> str:
    """Return why an image cannot be pulled, or has no such command; empty if it can be used."""
    for container in (pod.get("status") or {}).get("containerStatuses") or ():
        state = container.get("state") or {}
        for detail in (state.get("waiting") or {}, state.get("terminated") or {}):
            reason = detail.get("reason")
            if reason in (*_UNPULLED, _UNSTARTED):
                needed = "the nodes can pull" if reason in _UNPULLED else "has this command"
                why = " ".join(detail.get("message", "no reason").split())
                image = container["image"]
                return f"image {image}: {reason}: {why}; with --image, name one that {needed}"
    return ""


def _phase(pod: Object) -> str:
    return str((pod.get("status") or {}).get("phase"))


def _disruption(pod: Object) -> str:
    """Return why Kubernetes ended a pod before it was done; empty if it did not.

    https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions
    """
    held = condition(pod, "DisruptionTarget") if _phase(pod) == "Failed" else None
    return "" if held is None else f"{held.get('reason')}: {held.get('message')}"


def _unscheduled(every: Sequence[Object]) -> str:
    """Return what the scheduler says of the first pod that it cannot place; empty if it can."""
    for pod in every:
        if scheduled := condition(pod, "PodScheduled", "False"):
            return f"{pod['metadata']['name']}: {scheduled.get('message')}"
    return ""


def _why(every: Sequence[Object]) -> str:
    """Return why a job is not done in time."""
    why = _unscheduled(every) or ("" if every else "it has no pods")
    return f"not done in time: {why}" if why else "not done in time"
