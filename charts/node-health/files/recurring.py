"""Looks at idle nodes with accelerators by a job on each, and quarantines those that fail.

A job requests all devices that its node offers, so it starts where no other job runs, and no other
starts beside it. A node that fails gets a taint, and an annotation that says why; who releases it,
takes both away. It runs with Python's standard library alone.
"""

from __future__ import annotations

import copy
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError

from controller import MERGE_PATCH, Api, Object, is_judged, name_of, of_this_pod

TAINT = "hyperpod-cdk/quarantine"
WHY = "hyperpod-cdk/quarantined-because"
_INSTANCE_TYPE = "node.kubernetes.io/instance-type"
_DEVICES = ("nvidia.com/gpu", "aws.amazon.com/neuron", "vpc.amazonaws.com/efa")
_ENDED = ("Succeeded", "Failed")
_LABEL = "node-health-recurring"
_MOST_CHARACTERS = 1000


class Settings(NamedTuple):
    """What the chart's values say.

    The namespace has the jobs and nothing else. The program's arguments, by instance type, say what
    its nodes must have. After `timeout_seconds`, a job says nothing about its node.
    """

    release: str
    namespace: str
    arguments: Mapping[str, Sequence[str]]
    max_quarantined: int
    timeout_seconds: float
    interval_seconds: float


def idle(nodes: Iterable[Object], pods: Iterable[Object], settings: Settings) -> list[Object]:
    """Return the nodes to look at: well so far, with accelerators, none of which a pod uses."""
    busy = {
        pod["spec"].get("nodeName")
        for pod in pods
        if (pod.get("status") or {}).get("phase") not in _ENDED
        and any(
            device in ((each.get("resources") or {}).get("limits") or {})
            for each in pod["spec"]["containers"]
            for device in _DEVICES
        )
    }
    return [
        node
        for node in nodes
        if (node["metadata"].get("labels") or {}).get(_INSTANCE_TYPE) in settings.arguments
        and is_judged(node)
        and not (node.get("spec") or {}).get("unschedulable")
        and not is_quarantined(node)
        and name_of(node) not in busy
    ]


def is_quarantined(node: Object) -> bool:
    """Tell whether a node has the taint."""
    return any(each["key"] == TAINT for each in (node.get("spec") or {}).get("taints") or [])


def job_for(node: Object, template: Object, settings: Settings) -> Object:
    """Return the job that looks at a node, made of the one without what is the node's own."""
    made: Object = copy.deepcopy(template)
    name = name_of(node)
    made["metadata"] = {**made["metadata"], "generateName": f"{settings.release}-"}
    spec = made["spec"]["template"]["spec"]
    field = {"key": "metadata.name", "operator": "In", "values": [name]}
    spec["affinity"] = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchFields": [field]}]
            }
        }
    }
    (container,) = spec["containers"]
    container["command"] += settings.arguments[node["metadata"]["labels"][_INSTANCE_TYPE]]
    offered = (node.get("status") or {}).get("allocatable") or {}
    container["resources"]["limits"] |= {
        device: offered[device] for device in _DEVICES if offered.get(device, "0") != "0"
    }
    return made


def reason(pod: Object) -> str | None:
    """Return why a check has failed; None if it has not, or has not been made.

    Its last words are the lines of the program, of which those of failures count: a container that
    failed otherwise says nothing about the node.
    """
    for each in (pod.get("status") or {}).get("containerStatuses") or []:
        ended = (each.get("state") or {}).get("terminated") or {}
        told = []
        for line in (ended.get("message") or "").splitlines():
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict) and found.get("result") == "failed":
                told.append(f"{found['check']}: {found['found']} (expected: {found['expected']})")
        if ended.get("exitCode") and told:
            return "; ".join(told)[:_MOST_CHARACTERS]
    return None


def quarantine(api: Api, node: Object, why: str) -> bool:
    """Taint a node, unless it has changed since it was read; tell whether that was done."""
    name, metadata = name_of(node), node["metadata"]
    taints = [*((node.get("spec") or {}).get("taints") or [])]
    taints.append({"key": TAINT, "value": "failed", "effect": "NoSchedule"})
    body = {
        "metadata": {"annotations": {WHY: why}, "resourceVersion": metadata["resourceVersion"]},
        "spec": {"taints": taints},
    }
    return api.done("PATCH", f"/api/v1/nodes/{name}", body, content_type=MERGE_PATCH)


def check(
    api: Api,
    settings: Settings,
    template: Object,
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, str]:
    """Look at all idle nodes once; return why those are in quarantine that are so now.

    Whatever ends it, its jobs are deleted.
    """
    home = f"/apis/batch/v1/namespaces/{settings.namespace}/jobs"
    nodes = [*map(_used_of_node, api.items("/api/v1/nodes"))]
    room = settings.max_quarantined - sum(map(is_quarantined, nodes))
    if room <= 0:
        print("as many nodes are in quarantine as may be: none is looked at")  # noqa: T201
        return {}
    jobs: dict[str, str] = {}
    bad: dict[str, str] = {}
    try:
        for node in idle(nodes, api.items("/api/v1/pods"), settings):
            made = api.call("POST", home, job_for(node, template, settings))
            jobs[name_of(made)] = name_of(node)
        deadline = clock() + settings.timeout_seconds
        waiting = dict(jobs)
        while waiting and clock() < deadline:
            sleep(settings.interval_seconds)
            selector = f"labelSelector={_LABEL}%3D{settings.release}"
            for pod in api.items(f"/api/v1/namespaces/{settings.namespace}/pods?{selector}"):
                job = (pod["metadata"].get("labels") or {}).get("batch.kubernetes.io/job-name")
                if job not in waiting or (pod.get("status") or {}).get("phase") not in _ENDED:
                    continue
                node_name = waiting.pop(job)
                why = reason(pod)
                if why is not None:
                    bad[node_name] = why
    finally:
        for job in jobs:
            api.done("DELETE", f"{home}/{job}", {"propagationPolicy": "Background"})
    again = map(_used_of_node, api.items("/api/v1/nodes")) if bad else ()
    now = {name_of(node): node for node in again}
    done: dict[str, str] = {}
    for name, why in bad.items():
        if len(done) < room and name in now and quarantine(api, now[name], why):
            done[name] = why
        place = "in quarantine" if name in done else "left alone"
        print(f"node {name}: {place}: {why}")  # noqa: T201 - its log
    print(f"{len(jobs)} nodes looked at, {len(bad)} failed")  # noqa: T201 - its log
    return done


def _used_of_node(item: Object) -> Object:
    """Return a node without what makes thousands of them large."""
    item["metadata"].pop("managedFields", None)
    (item.get("status") or {}).pop("images", None)
    return item


def main() -> None:
    """Look once; the CronJob says when."""
    # Python as a container's first process passes SIGTERM over, and would leave its jobs there.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    environment = os.environ
    settings = Settings(
        release=environment["RELEASE"],
        namespace=environment["NAMESPACE"],
        arguments=json.loads(environment["ARGUMENTS"]),
        max_quarantined=int(environment["MAX_QUARANTINED"]),
        timeout_seconds=float(environment["TIMEOUT_SECONDS"]),
        interval_seconds=5.0,
    )
    template = json.loads(Path(__file__).with_name("job.json").read_text("utf-8"))
    check(of_this_pod(), settings, template)


if __name__ == "__main__":
    try:
        main()
    except HTTPError as error:
        raise SystemExit(f"Kubernetes API: {error}") from None
