"""What Kubeflow's training operator makes of a PyTorchJob that has workers alone.

Each rule is that of version 1.7.0, which HyperPod's chart installs, in the file named at it below
https://github.com/kubeflow/training-operator/tree/v1.7.0/pkg; 1.8.1 has the same ones. A job that
has a master, is suspended, or limits its retries or its time is not looked at.
"""

import copy
from collections.abc import Iterator, Mapping

from hyperpod_emulator.kubernetes.in_process import KubernetesApi
from hyperpod_emulator.kubernetes.objects.errors import ApiError, Object
from hyperpod_emulator.kubernetes.objects.metadata import (
    condition,
    has_condition,
    labels_of,
    name_of,
    namespace_of,
    now,
)

API_VERSION, KIND = "kubeflow.org/v1", "PyTorchJob"
# apis/kubeflow.org/v1/pytorch_types.go
_CONTAINER, _PORT_NAME, _PORT = "pytorch", "pytorchjob-port", 23456
# apis/kubeflow.org/v1/common_types.go
_LABEL = "training.kubeflow.org"
JOB_LABEL = f"{_LABEL}/job-name"
_TYPE, _INDEX = f"{_LABEL}/replica-type", f"{_LABEL}/replica-index"
_RESTARTS = ("OnFailure", "Always")
_FINISHED = ("Succeeded", "Failed")


class TrainingOperator:
    """Brings pods, Services and status of each job up to date; no thread of its own."""

    def __init__(self, api: KubernetesApi) -> None:
        self._api = api
        api.operate(KIND, "Pod")

    def reconcile(self) -> None:
        """Do what there is to do for each job."""
        for job in self._api.objects(API_VERSION, KIND):
            if set(job["spec"]["pytorchReplicaSpecs"]) == {"Worker"}:
                self._reconcile(job)

    def _reconcile(self, job: Object) -> None:
        """Reconcile one job, as ReconcileJobs in controller.v1/common/job.go does."""
        _set_defaults(job)
        before = job.get("status") or {}
        status = copy.deepcopy(before)
        pods = [*self._owned(job, "Pod")]
        if any(has_condition({"status": status}, kind) for kind in _FINISHED):
            self._clean_up(job, pods)
            return
        _set_condition(status, job, "Created", f"PyTorchJob {name_of(job)} is created.")
        counts = self._reconcile_pods(job, pods, status)
        self._reconcile_services(job)
        _report(job, counts, status)
        if status != before:
            self._api.set_status(
                API_VERSION, KIND, name_of(job), status, namespace=namespace_of(job)
            )

    def _owned(self, job: Object, kind: str) -> Iterator[Object]:
        for item in self._api.objects("v1", kind, namespace_of(job)):
            owners = item["metadata"].get("ownerReferences") or ()
            if any(owner["uid"] == job["metadata"]["uid"] for owner in owners):
                yield item

    def _reconcile_pods(self, job: Object, pods: list[Object], status: Object) -> Mapping[str, int]:
        """Make the pods that are missing, delete those that failed, and count the others.

        ReconcilePods and createNewPod in controller.v1/common/pod.go, UpdateJobReplicaStatuses in
        core/status.go.
        """
        spec = _worker(job)
        found = {int(labels_of(pod)[_INDEX]): pod for pod in pods}
        counts = {"active": 0, "succeeded": 0, "failed": 0}
        for index in range(spec["replicas"]):
            pod = found.get(index)
            if pod is None:
                self._create(_pod(job, index))
                continue
            phase = (pod.get("status") or {}).get("phase")
            if phase == "Failed" and spec["restartPolicy"] in _RESTARTS:
                self._api.delete("v1", "Pod", name_of(pod), namespace=namespace_of(pod))
                message = f"job {name_of(job)} is restarting because Worker replica(s) failed."
                _set_condition(status, job, "Restarting", message)
            # The pod of a node that is gone never reaches the phase Failed.
            leaves = bool(pod["metadata"].get("deletionTimestamp"))
            counted = {"Succeeded": "succeeded", "Failed": "failed"}.get(str(phase))
            if phase == "Running":
                counted = "failed" if leaves else "active"
            if counted is not None:
                counts[counted] += 1
        return counts

    def _reconcile_services(self, job: Object) -> None:
        """Make a headless Service for each pod: controller.v1/common/service.go."""
        found = {labels_of(service)[_INDEX] for service in self._owned(job, "Service")}
        for index in range(_worker(job)["replicas"]):
            if str(index) not in found:
                labels = _labels(job, index)
                port = {"name": _PORT_NAME, "port": _port(job)}
                spec = {"clusterIP": "None", "selector": labels, "ports": [port]}
                self._create(
                    {
                        "apiVersion": "v1",
                        "kind": "Service",
                        "metadata": _metadata(job, index),
                        "spec": spec,
                    }
                )

    def _clean_up(self, job: Object, pods: list[Object]) -> None:
        """Delete what `cleanPodPolicy` says: DeletePodsAndServices, controller.v1/common/job.go."""
        policy = (job["spec"].get("runPolicy") or {}).get("cleanPodPolicy", "None")
        for pod in pods:
            runs = (pod.get("status") or {}).get("phase") in ("Running", "Pending", None)
            leaves = bool(pod["metadata"].get("deletionTimestamp"))
            if not leaves and (policy == "All" or (policy == "Running" and runs)):
                for kind in ("Pod", "Service"):
                    self._api.delete("v1", kind, name_of(pod), namespace=namespace_of(pod))

    def _create(self, item: Object) -> None:
        """Create an object; one that is there or may not be made is tried again the next time."""
        try:
            self._api.create(item)
        except ApiError as error:
            if error.reason not in ("AlreadyExists", "Forbidden"):
                raise


def _worker(job: Object) -> Object:
    spec: Object = job["spec"]["pytorchReplicaSpecs"]["Worker"]
    return spec


def _set_defaults(job: Object) -> None:
    """Fill in what is left out: apis/kubeflow.org/v1/pytorch_defaults.go."""
    worker = _worker(job)
    worker.setdefault("replicas", 1)
    worker.setdefault("restartPolicy", "OnFailure")
    for container in worker["template"]["spec"]["containers"]:
        ports = container.setdefault("ports", [])
        if container["name"] == _CONTAINER and _PORT_NAME not in {p.get("name") for p in ports}:
            ports.append({"name": _PORT_NAME, "containerPort": _PORT})
    elastic = job["spec"].get("elasticPolicy")
    if elastic is not None:
        bounds = [elastic.get("minReplicas"), elastic.get("maxReplicas")]
        known = next((bound for bound in bounds if bound is not None), worker["replicas"])
        elastic.setdefault("minReplicas", known)
        elastic.setdefault("maxReplicas", known)


def _port(job: Object) -> int:
    [port] = [
        int(port["containerPort"])
        for container in _worker(job)["template"]["spec"]["containers"]
        for port in container["ports"]
        if container["name"] == _CONTAINER and port.get("name") == _PORT_NAME
    ]
    return port


def _labels(job: Object, index: int) -> dict[str, str]:
    """Return the labels of a replica: GenLabels in controller.v1/common/job_controller.go."""
    return {
        f"{_LABEL}/operator-name": "pytorchjob-controller",
        JOB_LABEL: name_of(job),
        _TYPE: "worker",
        _INDEX: str(index),
    }


def _metadata(job: Object, index: int) -> Object:
    owner: Object = {"apiVersion": API_VERSION, "kind": KIND, "name": name_of(job)}
    owner |= {"uid": job["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}
    return {
        "name": f"{name_of(job)}-worker-{index}",
        "namespace": namespace_of(job),
        "labels": _labels(job, index),
        "ownerReferences": [owner],
    }


def _pod(job: Object, index: int) -> Object:
    worker = copy.deepcopy(_worker(job))
    template, own = worker["template"], _metadata(job, index)
    template["spec"]["restartPolicy"] = worker["restartPolicy"]  # core/pod.go
    for container in template["spec"]["containers"]:
        container["env"] = [
            *(container.get("env") or ()),
            *({"name": name, "value": value} for name, value in _environment(job)),
        ]
    given = template.get("metadata") or {}
    labels = {**(given.get("labels") or {}), **own["labels"]}
    metadata = {**given, **own, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


def _environment(job: Object) -> Iterator[tuple[str, str]]:
    """Yield what setPodEnv and Generate in controller.v1/pytorch/{envvar,elastic}.go add."""
    yield "PYTHONUNBUFFERED", "1"
    elastic = job["spec"].get("elasticPolicy")
    if elastic is None:
        yield "PET_NNODES", str(_worker(job)["replicas"])
        return
    host = elastic.get("rdzvHost", f"{name_of(job)}-worker-0")
    yield "PET_RDZV_ENDPOINT", f"{host}:{elastic.get('rdzvPort', _port(job))}"
    yield "PET_RDZV_BACKEND", elastic.get("rdzvBackend", "c10d")
    yield "PET_NNODES", f"{elastic['minReplicas']}:{elastic['maxReplicas']}"
    for key, name in (
        ("maxRestarts", "PET_MAX_RESTARTS"),
        ("nProcPerNode", "PET_NPROC_PER_NODE"),
        ("rdzvId", "PET_RDZV_ID"),
    ):
        if key in elastic:
            yield name, str(elastic[key])
    if elastic.get("rdzvConf"):
        pairs = (f"{each['key']}={each['value']}" for each in elastic["rdzvConf"])
        yield "PET_RDZV_CONF", ",".join(pairs)


def _report(job: Object, counts: Mapping[str, int], status: Object) -> None:
    """Write what the replicas do: controller.v1/pytorch/pytorchjob_controller.go."""
    worker, elastic = _worker(job), job["spec"].get("elasticPolicy")
    status.setdefault("startTime", now())
    status["replicaStatuses"] = {"Worker": {key: value for key, value in counts.items() if value}}
    name = f"{namespace_of(job)}/{name_of(job)}"
    if counts["succeeded"] == worker["replicas"] or (elastic is not None and counts["succeeded"]):
        status.setdefault("completionTime", now())
        message = f"PyTorchJob {name} successfully completed."
        _set_condition(status, job, "Succeeded", message)
    elif counts["active"]:
        _set_condition(status, job, "Running", f"PyTorchJob {name} is running.")
    if counts["failed"] and worker["replicas"] > counts["succeeded"] + counts["active"]:
        restarts = worker["restartPolicy"] != "Never"
        what = "restarting" if restarts else "failed"
        reason = f"because {counts['failed']} Worker replica(s) failed."
        message = f"PyTorchJob {name_of(job)} is {what} {reason}"
        if not restarts:
            status.setdefault("completionTime", now())
        _set_condition(status, job, "Restarting" if restarts else "Failed", message)


def _set_condition(status: Object, job: Object, kind: str, message: str) -> None:
    """Add a condition that is not there yet: util/status.go."""
    if has_condition({"status": status}, kind) or has_condition({"status": status}, "Failed"):
        return
    excluded = {"Restarting": "Running", "Running": "Restarting"}.get(kind)
    kept = [
        {**each, "status": "False"} if kind in _FINISHED and each["type"] == "Running" else each
        for each in status.get("conditions") or ()
        if each["type"] not in (kind, excluded)
    ]
    found = condition(kind, "True", reason=f"{job['kind']}{kind}", message=message)
    found["lastUpdateTime"] = found["lastTransitionTime"]
    status["conditions"] = [*kept, found]
