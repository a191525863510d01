"""Marks nodes whose health check fails for reboot or replacement by HyperPod.

The check is the readiness probe of a pod on each node, so a pod that is not ready is a check that
fails. It runs with Python's standard library alone.
"""

from __future__ import annotations

import json
import os
import ssl
import time
import urllib.request
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Object = dict[str, Any]

# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-manual.html
HEALTH = "sagemaker.amazonaws.com/node-health-status"
HEALTHY = "Schedulable"
MARKS = {"reboot": "UnschedulablePendingReboot", "replace": "UnschedulablePendingReplacement"}
FAILING_SINCE = "hyperpod-cdk/health-check-fails-since"
_CREDENTIALS = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_TIMEOUT_SECONDS = 30
_PAGE = 100
MERGE_PATCH = "application/merge-patch+json"


class Settings(NamedTuple):
    """What the chart's values say.

    After `failing_seconds` of a failing check its node is marked: for reboot, for replacement, or
    not at all. At most `max_at_once` nodes are marked, or on their way back, for which a marked one
    counts for `settle_seconds`.
    """

    release: str
    namespace: str
    action: str
    failing_seconds: float
    interval_seconds: float
    max_at_once: int
    settle_seconds: float


class Decision(NamedTuple):
    """What to do, by the names of nodes.

    `failing` has since when a check fails, and `marks` when each node was marked that counts, those
    of `to_mark` included.
    """

    failing: dict[str, float]
    to_mark: list[str]
    marks: dict[str, float]


def decide(
    *,
    nodes: Sequence[Object],
    pods: Sequence[Object],
    marks: Mapping[str, float],
    settings: Settings,
    now: float,
) -> Decision:
    """Decide which nodes are marked: those that fail longest, while there is room."""
    pending = {name_of(node) for node in nodes if _health(node) in MARKS.values()}
    counting = {
        name: moment
        for name, moment in marks.items()
        if name in pending or now - moment < settings.settle_seconds
    }
    judged = {name_of(node) for node in nodes if is_judged(node)}
    failing = {
        pod["spec"]["nodeName"]: since
        for pod in pods
        if pod["spec"].get("nodeName") in judged
        and (since := _failing_since(pod)) is not None
        and now - since >= settings.failing_seconds
    }
    room = settings.max_at_once - len(pending | counting.keys())
    wanted = sorted(failing.keys() - counting.keys(), key=lambda name: (failing[name], name))
    to_mark = wanted[: max(room, 0)] if settings.action in MARKS else []
    return Decision(failing, to_mark, {**counting, **dict.fromkeys(to_mark, now)})


def _failing_since(pod: Object) -> float | None:
    """Return since when the check fails; None if it does not, or does not run."""
    status = pod.get("status") or {}
    started = [
        (each.get("state") or {}).get("running", {}).get("startedAt")
        for each in status.get("containerStatuses") or []
    ]
    ready = _condition(status)
    if ready is None or ready.get("status") != "False" or not all([*started, started]):
        return None
    return max(_seconds(moment) for moment in [*started, ready["lastTransitionTime"]])


def is_judged(node: Object) -> bool:
    """Tell whether a node is one of HyperPod's that is well, as far as HyperPod knows."""
    return _health(node) == HEALTHY and _is_ready(node)


def _is_ready(node: Object) -> bool:
    """Tell whether its kubelet answers: else every pod of it counts as not ready."""
    ready = _condition(node.get("status") or {})
    return ready is not None and ready.get("status") == "True"


def _condition(status: Object) -> Object | None:
    found = [each for each in status.get("conditions") or [] if each["type"] == "Ready"]
    return found[0] if found else None


def _health(node: Object) -> str | None:
    value: str | None = (node["metadata"].get("labels") or {}).get(HEALTH)
    return value


def name_of(item: Object) -> str:
    """Return the name of an object."""
    return str(item["metadata"]["name"])


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class Api:
    """The Kubernetes API; Kubernetes renews the bearer token in the file."""

    url: str
    token_file: Path
    context: ssl.SSLContext

    def call(
        self,
        method: str,
        path: str,
        body: Object | None = None,
        *,
        content_type: str = "application/json",
    ) -> Object:
        """Call it, and return what it answers; OSError or HTTPException if it does not."""
        request = urllib.request.Request(  # noqa: S310 - the API of this cluster
            f"{self.url}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.token_file.read_text('utf-8').strip()}",
                "Content-Type": content_type,
            },
        )
        with urllib.request.urlopen(  # noqa: S310 - as above
            request, timeout=_TIMEOUT_SECONDS, context=self.context
        ) as response:
            answer: Object = json.load(response)
        return answer

    def done(self, method: str, path: str, body: Object, **options: str) -> bool:
        """Write, and tell whether it was as it was read."""
        try:
            self.call(method, path, body, **options)
        except HTTPError as error:
            if error.code not in {HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND}:
                raise
            return False
        return True

    def items(self, path: str) -> Iterator[Object]:
        """Yield what a list has, a page in memory at a time: a node takes up to 65 KiB."""
        asked = f"{path}{'&' if '?' in path else '?'}limit={_PAGE}"
        following: str | None = ""
        while following is not None:
            page = self.call("GET", f"{asked}{following}")
            yield from page["items"]
            token = page["metadata"].get("continue")
            following = f"&continue={quote(token, safe='')}" if token else None


def look(api: Api, settings: Settings, *, now: float) -> Decision | None:
    """Look once, and mark what is to be marked; None if another controller was quicker.

    What is to be marked is written down first, on the condition that nobody else has written since
    it was read: two controllers never act on the same free place.
    """
    home = f"/api/v1/namespaces/{settings.namespace}"
    ledger_path = f"{home}/configmaps/{settings.release}-marks"
    ledger = api.call("GET", ledger_path)
    marks = {name: _seconds(moment) for name, moment in (ledger.get("data") or {}).items()}
    nodes = [_used_of_node(item) for item in api.items("/api/v1/nodes")]
    selector = f"labelSelector=node-health%3D{settings.release}"
    pods = [_used_of_pod(item) for item in api.items(f"{home}/pods?{selector}")]
    decision = decide(nodes=nodes, pods=pods, marks=marks, settings=settings, now=now)
    if decision.marks != marks:
        data = {name: _moment(moment) for name, moment in decision.marks.items()}
        if not api.done("PUT", ledger_path, {**ledger, "data": data}):
            return None
    for node in nodes:
        _write(api, node, decision=decision, action=settings.action)
    return decision


def _used_of_node(item: Object) -> Object:
    """Return what is used of a node: with its images and conditions, thousands take too much."""
    metadata = item["metadata"]
    kept = {name: metadata.get(name) for name in ("name", "resourceVersion")}
    for name, key in (("labels", HEALTH), ("annotations", FAILING_SINCE)):
        values = metadata.get(name) or {}
        kept[name] = {key: values[key]} if key in values else {}
    ready = _condition(item.get("status") or {})
    return {"metadata": kept, "status": {"conditions": [ready] if ready else []}}


def _used_of_pod(item: Object) -> Object:
    """Return what is used of a pod of the check."""
    status = item.get("status") or {}
    ready = _condition(status)
    return {
        "spec": {"nodeName": item["spec"].get("nodeName")},
        "status": {
            "conditions": [ready] if ready else [],
            "containerStatuses": [
                {"state": each.get("state")} for each in status.get("containerStatuses") or []
            ],
        },
    }


def _write(api: Api, node: Object, *, decision: Decision, action: str) -> None:
    """Annotate a node that fails, and label one that is to be marked."""
    name, metadata = name_of(node), node["metadata"]
    since = decision.failing.get(name)
    wanted = None if since is None else _moment(since)
    changes: Object = {}
    if (metadata.get("annotations") or {}).get(FAILING_SINCE) != wanted:
        changes["annotations"] = {FAILING_SINCE: wanted}
    if name in decision.to_mark:
        changes["labels"] = {HEALTH: MARKS[action]}
        # Unless HyperPod has changed it in between.
        changes["resourceVersion"] = metadata["resourceVersion"]
    if changes:
        path = f"/api/v1/nodes/{name}"
        done = api.done("PATCH", path, {"metadata": changes}, content_type=MERGE_PATCH)
        outcome = "" if done else ": it has changed, and is left alone"
        print(f"node {name}: {json.dumps(changes)}{outcome}")  # noqa: T201 - its log


def attempt(api: Api, settings: Settings, *, now: float) -> bool:
    """Look once; tell whether it could be done, and print why if not."""
    try:
        look(api, settings, now=now)
    except (OSError, HTTPException) as error:
        told = f"{type(error).__name__}: {error}"
        pause = settings.interval_seconds
        print(f"Kubernetes API: {told}; the next look is in {pause:.0f} s")  # noqa: T201 - its log
        return False
    return True


def of_this_pod() -> Api:
    """Return the API of the cluster that this runs in, with the pod's own account."""
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    context = ssl.create_default_context(cafile=str(_CREDENTIALS / "ca.crt"))
    # EKS's certificates lack an authority key identifier, which Python 3.13 asks for.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    bracketed = f"[{host}]" if ":" in host else host
    return Api(
        url=f"https://{bracketed}:{port}", token_file=_CREDENTIALS / "token", context=context
    )


def main() -> None:
    """Look for ever."""
    environment = os.environ
    interval = float(environment["INTERVAL_SECONDS"])
    settings = Settings(
        release=environment["RELEASE"],
        namespace=environment["NAMESPACE"],
        action=environment["ACTION"],
        failing_seconds=interval * int(environment["FAILURES"]),
        interval_seconds=interval,
        max_at_once=int(environment["MAX_AT_ONCE"]),
        settle_seconds=60.0 * int(environment["SETTLE_MINUTES"]),
    )
    api = of_this_pod()
    while True:
        attempt(api, settings, now=time.time())
        time.sleep(settings.interval_seconds)


if __name__ == "__main__":
    main()
