"""Follows a job to its end: what its first worker writes, and why it waits."""

import time
from collections.abc import Callable, Iterator, Mapping

from hyperpod_cli.aws.kubernetes_api import condition
from hyperpod_cli.operate.job_charts import Connect, Log, Object, live, pods, warning
from hyperpod_cli.operate.training.request import JOB_KINDS
from hyperpod_cli.terminal.errors import FailedError, TransientError

# Of a PyTorchJob, and of a HyperPodPyTorchJob: the sources are those of JOB_KINDS.
_SUCCEEDED = ("Succeeded", "Completed", "Complete")
_FIXES = {
    "ImagePullBackOff": "push the image, or let the nodes' role pull it, and submit another job",
    "ErrImagePull": "push the image, or let the nodes' role pull it, and submit another job",
    "InvalidImageName": "give another --image",
    "CreateContainerConfigError": "the Secret needs the key that the job reads",
}


def follow(
    connect: Connect,
    job: Object,
    *,
    show: Callable[[str], None],
    tell: Callable[[str], None],
    seconds: float,
) -> None:
    """Return when a job has succeeded; show what its first worker writes, and tell why it waits.

    FailedError: the job has failed, or was deleted.
    """
    logs: dict[str, Log] = {}
    last = ""
    while True:
        try:
            now, worker, why = _look(connect, job)
            if now is None:
                raise FailedError(f"job: {job['metadata']['name']} was deleted")
            if worker is not None and _has_log(worker):
                log = logs.setdefault(str(worker["metadata"]["uid"]), Log(connect, worker))
                for line in log.lines():
                    show(line)
                # It may have ended meanwhile.
                now = _look(connect, job)[0] or now
            state = _state(now, worker) if worker is not None or not why else why
        except TransientError as error:
            state = str(error)
        else:
            if _ended(now):
                return
        if state and state != last:
            tell(state)
        last = state
        time.sleep(seconds)


def _look(connect: Connect, job: Object) -> tuple[Object | None, Object | None, str]:
    """Return the job and its first worker, as they are now, and why it has none, if known."""
    metadata = job["metadata"]
    labels = {JOB_KINDS[job["kind"]].name_label: metadata["name"]}
    with connect() as api:
        now = live(api, job)
        workers = pods(api, namespace=metadata["namespace"], labels=labels) if now else []
        why = warning(api, now) if now and not workers else ""
    return now, min(workers, key=_index, default=None), why


def _index(pod: Object) -> tuple[int, str]:
    labels: Mapping[str, str] = pod["metadata"].get("labels") or {}
    number = labels.get("training.kubeflow.org/replica-index", "0")
    return int(number) if number.isdecimal() else 0, str(pod["metadata"]["name"])


def _statuses(pod: Object) -> Iterator[Object]:
    yield from (pod.get("status") or {}).get("containerStatuses") or ()


def _has_log(pod: Object) -> bool:
    return any(status["state"].keys() & {"running", "terminated"} for status in _statuses(pod))


def _ended(job: Object) -> bool:
    """Say whether a job has succeeded. FailedError: it has failed."""
    failed = condition(job, "Failed")
    if failed is not None:
        why = failed.get("message") or failed.get("reason") or "no reason is given"
        raise FailedError(f"job: {job['metadata']['name']} has failed: {why}")
    return any(condition(job, kind) for kind in _SUCCEEDED)


def _state(job: Object, worker: Object | None) -> str:
    """Return why a job does not run, in a line; empty for one that does."""
    if worker is None:
        queue = (job["metadata"].get("labels") or {}).get("kueue.x-k8s.io/queue-name")
        return f"waits in the queue {queue}" if queue else "waits for its operator to create pods"
    for status in _statuses(worker):
        waiting = status["state"].get("waiting")
        if waiting:
            reason = str(waiting.get("reason", ""))
            parts = (reason, waiting.get("message"), _FIXES.get(reason))
            return f"{worker['metadata']['name']}: {': '.join(part for part in parts if part)}"
    if held := condition(worker, "PodScheduled", "False"):
        return f"{worker['metadata']['name']}: {held.get('message') or held.get('reason', '')}"
    return ""
