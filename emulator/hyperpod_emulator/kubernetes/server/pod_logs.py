"""What the containers of pods have written, and the request that reads it.

https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#get-read-log-of-the-specified-pod
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator

from aiohttp import web

from hyperpod_emulator.kubernetes.objects.errors import Object, bad_request
from hyperpod_emulator.kubernetes.objects.store import ResourcePath, Store
from hyperpod_emulator.kubernetes.server.requests import number

LOG = "log"
"""A subresource of pods."""
_PAUSE_SECONDS = 0.05


class PodLogs:
    """The output of each container, from its start, by the uid of its pod."""

    def __init__(self) -> None:
        self._written: defaultdict[tuple[str, str], bytearray] = defaultdict(bytearray)

    def write(self, pod: Object, container: str, output: bytes) -> None:
        """Add to the output of a container."""
        self._written[pod["metadata"]["uid"], container] += output

    def begin(self, pod: Object, container: str) -> None:
        """Begin the output of a container anew; who follows the former one keeps it."""
        self._written.pop((pod["metadata"]["uid"], container), None)

    def of(self, pod: Object, container: str) -> bytearray:
        """Return the output of a container, which grows."""
        return self._written[pod["metadata"]["uid"], container]


async def read_log(
    request: web.Request, store: Store, target: ResourcePath, pod: Object, logs: PodLogs
) -> web.StreamResponse:
    """Answer a request for the log of a container: `container`, `tailLines`, `follow`."""
    container = _container(pod, request.query.get("container", ""))
    lines = number(request, "tailLines", -1) if "tailLines" in request.query else None
    written = logs.of(pod, container)
    position = _beginning(written, lines)
    response = web.StreamResponse(headers={"Content-Type": "text/plain"})
    await response.prepare(request)
    # As Go reads it; the client for Python writes True.
    follows = request.query.get("follow", "").lower() in ("1", "t", "true")
    while True:
        # Looked at first: what a container writes at last is there before it has ended.
        runs = follows and _runs(store, target, pod, container)
        if len(written) > position:
            output = bytes(written[position:])
            position += len(output)
            await response.write(output)
        if not runs:
            return response
        await asyncio.sleep(_PAUSE_SECONDS)


def _container(pod: Object, wanted: str) -> str:
    """Return the container that is meant, in whose words the API server refuses others.

    https://github.com/kubernetes/kubernetes/blob/v1.34.0/pkg/registry/core/pod/strategy.go
    """
    name, names = pod["metadata"]["name"], [each["name"] for each in pod["spec"]["containers"]]
    if not wanted and len(names) > 1:
        message = f"a container name must be specified for pod {name}, choose one of: "
        raise bad_request(f"{message}[{' '.join(names)}]")
    container = wanted or names[0]
    if container not in names:
        raise bad_request(f"container {container} is not valid for pod {name}")
    for status in _statuses(pod, container):
        if "waiting" in status["state"]:
            reason = status["state"]["waiting"]["reason"]
            message = f'container "{container}" in pod "{name}" is waiting to start: {reason}'
            raise bad_request(message)
    return container


def _statuses(pod: Object, container: str) -> Iterator[Object]:
    for status in (pod.get("status") or {}).get("containerStatuses") or ():
        if status["name"] == container:
            yield status


def _beginning(written: bytes | bytearray, lines: int | None) -> int:
    """Return where the last lines of an output begin."""
    if lines is None:
        return 0
    position = len(written) - written.endswith(b"\n")
    for _ in range(lines):
        position = written.rfind(b"\n", 0, position)
        if position < 0:
            return 0
    return position + 1 if lines else len(written)


def _runs(store: Store, target: ResourcePath, pod: Object, container: str) -> bool:
    now = store.get(target.resource, namespace=target.namespace, name=target.name)
    return (
        now is not None
        and now["metadata"]["uid"] == pod["metadata"]["uid"]
        and any("running" in status["state"] for status in _statuses(now, container))
    )
