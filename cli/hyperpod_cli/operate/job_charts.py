"""Jobs that are charts of this project: rendered, submitted, followed and deleted."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from kubernetes.client import ApiClient, ApiException, CoreV1Api
from urllib3 import HTTPResponse
from urllib3.exceptions import ProtocolError, ReadTimeoutError

from hyperpod_cdk.facts.deep_learning_containers import BASE_IMAGES
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cdk.workloads.images import image_output
from hyperpod_cli.aws.kubernetes_api import existing
from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.aws.stacks import described_stack, documented_outputs
from hyperpod_cli.helm.helm import CommandError, Helm, helm_binary
from hyperpod_cli.operate.chart_values import problems
from hyperpod_cli.terminal.errors import LinesError, OpsError

Object = Mapping[str, Any]
Connect = Callable[[], AbstractContextManager[ApiClient]]
"""Makes a client of the Kubernetes API; `kubernetes_api` with its arguments, as a token expires."""

_FIELD_MANAGER = "hyperpod-cdk"
# Of the event that the Kubernetes API of a rehearsal writes.
_NO_PODS = "PodsNotRun"
# https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches
_METADATA = {"Accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}
# A line of the log is longer ago than this only where the job hangs or its node has died.
_SILENCE_SECONDS = 60.0
_OVERLAP_LINES = 1000


def built_images(session: AwsSession, *, deployment: str) -> dict[str, str]:
    """Return the training images that a deployment has built, by the names of their bases."""
    stack = described_stack(session.client("cloudformation"), f"{deployment}-workloads")
    outputs = documented_outputs(stack) if stack else {}
    images = {base.name: outputs.get(image_output(base.name)) for base in BASE_IMAGES.values()}
    return {name: image for name, image in images.items() if image}


def rendered(
    chart: str,
    *,
    name: str,
    namespace: str,
    values: Mapping[str, Any],
    files: Sequence[Path] = (),
    settings: Sequence[str] = (),
    where: Callable[[str], str] = "values: {}".format,
) -> list[Object]:
    """Return the objects of a chart; refuse values that it does not take, a line for each thing.

    Values are merged over those of files, and settings, `KEY=VALUE` as `helm --set` takes them, win
    over all others. `where` returns where the user has given a key of the values, for errors.
    """
    folder = asset_directory("charts") / chart
    with TemporaryDirectory() as home:
        helm = Helm(binary=helm_binary(), home=Path(home))
        try:
            text = helm.template(
                folder,
                values=values,
                files=files,
                settings=settings,
                release=name,
                namespace=namespace,
            )
        except CommandError as error:
            lines = problems(str(error), chart=folder, where=where)
            raise LinesError("\n".join(lines)) from None
    return [item for item in yaml.safe_load_all(text) if item]


def merged_values(
    chart: str, *, values: Mapping[str, Any], files: Sequence[Path], settings: Sequence[str]
) -> Mapping[str, Any]:
    """Return all that `rendered` gives a chart, as one file of values has it."""
    folder = asset_directory("charts") / chart
    with TemporaryDirectory() as home:
        helm = Helm(binary=helm_binary(), home=Path(home))
        return helm.merged_values(folder, values=values, files=files, settings=settings)


def submit(api: ApiClient, objects: Iterable[Object]) -> None:
    """Create or change objects by server-side apply; what is immutable and there stays as it is."""
    for item in objects:
        if item.get("immutable") and exists(api, item):
            continue
        _call(
            api,
            "PATCH",
            _path(api, item),
            query_params=[("fieldManager", _FIELD_MANAGER), ("fieldValidation", "Strict")],
            headers={"Content-Type": "application/apply-patch+yaml"},
            body=item,
        )


def delete(api: ApiClient, objects: Iterable[Object]) -> list[Object]:
    """Delete objects with what they own, and return those that were there."""
    asked = {"query_params": [("propagationPolicy", "Background")]}
    return [item for item in objects if _asked(api, "DELETE", item, **asked) is not None]


def live(api: ApiClient, item: Object) -> Object | None:
    """Return an object of some name as it is now; None if it, or its kind, is not there."""
    return _asked(api, "GET", item)


def exists(api: ApiClient, item: Object) -> bool:
    """Say whether an object is there, without reading what is in it, as of a Secret."""
    return _asked(api, "GET", item, headers=_METADATA) is not None


def is_served(api: ApiClient, api_version: str, kind: str) -> bool:
    """Say whether the cluster knows a kind, such as `PyTorchJob`: its definition is installed."""
    return _resource(api, api_version, kind) is not None


def pods(api: ApiClient, *, namespace: str, labels: Mapping[str, str]) -> list[Object]:
    """Return the pods with some labels, by name."""
    selector = ",".join(f"{name}={value}" for name, value in labels.items())
    answer = CoreV1Api(api).list_namespaced_pod(
        namespace, label_selector=selector, _preload_content=False
    )
    return sorted(json.loads(answer.data)["items"], key=lambda pod: str(pod["metadata"]["name"]))


def warning(api: ApiClient, item: Object) -> str:
    """Return the last warning among an object's events; empty without one.

    OpsError: it is that of a rehearsal, where no pods will come.
    """
    metadata = item["metadata"]
    answer = CoreV1Api(api).list_namespaced_event(
        metadata["namespace"],
        field_selector=f"involvedObject.uid={metadata['uid']},type=Warning",
        _preload_content=False,
    )
    events = json.loads(answer.data)["items"]
    last = max(events, key=lambda event: event.get("lastTimestamp") or "", default=None)
    if last is not None and last["reason"] == _NO_PODS:
        raise OpsError(f"{item['kind']} {metadata['name']}: {last['message'].removesuffix('.')}")
    return "" if last is None else f"{last['reason']}: {last['message']}"


class Log:
    """What a pod's first container writes, followed over connections that end and its restarts."""

    def __init__(self, connect: Connect, pod: Object) -> None:
        self._connect = connect
        where = {key: pod["metadata"][key] for key in ("name", "namespace")}
        self._asked = {**where, "container": pod["spec"]["containers"][0]["name"]}
        self._last: str | None = None

    def lines(self) -> Iterator[str]:
        """Yield lines that were not yielded before, until there are no more for now.

        That is when the container has ended, waits to start, or is on a node that does not answer;
        what becomes of it is to be seen in the pod.
        """
        while True:
            with self._connect() as api:
                try:
                    yield from self._new(api)
                except (ReadTimeoutError, ProtocolError):
                    # Nothing for a while, or the load balancer before the API has closed it.
                    continue
                except ApiException as error:
                    if error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
                        raise
                return

    def _new(self, api: ApiClient) -> Iterator[str]:
        tail: dict[str, int] = {}
        seen = self._last
        if seen is not None:
            there = self._read(api, tail_lines=_OVERLAP_LINES).data.decode("utf-8", "replace")
            # Not there: the container has begun anew, or has written more than that meanwhile.
            if seen in there.splitlines():
                tail = {"tail_lines": _OVERLAP_LINES}
        for line in _lines(self._read(api, follow=True, **tail)):
            if tail:
                if line == seen:
                    tail = {}
                continue
            self._last = line
            yield line

    def _read(self, api: ApiClient, **asked: int) -> HTTPResponse:
        answer: HTTPResponse = CoreV1Api(api).read_namespaced_pod_log(
            **self._asked,
            **asked,
            _preload_content=False,
            _request_timeout=(_SILENCE_SECONDS, _SILENCE_SECONDS),
        )
        return answer


def _lines(answer: HTTPResponse) -> Iterator[str]:
    rest = b""
    for chunk in answer.stream(decode_content=True):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from (line.decode("utf-8", "replace") for line in whole)
    if rest:
        yield rest.decode("utf-8", "replace")


def _asked(api: ApiClient, method: str, item: Object, **asked: Any) -> Object | None:
    """Return what is said of an object; None if it, or its kind, is not there."""
    path = _path_if_served(api, item)
    return None if path is None else existing(_call, api, method, path, **asked)


def _call(
    api: ApiClient,
    method: str,
    path: str,
    *,
    headers: Mapping[str, str] | None = None,
    **asked: Any,
) -> Object:
    answer = api.call_api(
        path,
        method,
        header_params={"Accept": "application/json", **(headers or {})},
        auth_settings=["BearerToken"],
        _preload_content=False,
        _return_http_data_only=True,
        **asked,
    )
    return dict(json.loads(answer.data))


def _group_path(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _resource(api: ApiClient, api_version: str, kind: str) -> Object | None:
    path = _group_path(api_version)
    listed = existing(_call, api, "GET", path) or {"resources": ()}
    named = (resource for resource in listed["resources"] if "/" not in resource["name"])
    return next((resource for resource in named if resource["kind"] == kind), None)


def _path_if_served(api: ApiClient, item: Object) -> str | None:
    resource = _resource(api, item["apiVersion"], item["kind"])
    if resource is None:
        return None
    metadata = item["metadata"]
    where = f"/namespaces/{metadata['namespace']}" if resource["namespaced"] else ""
    return f"{_group_path(item['apiVersion'])}{where}/{resource['name']}/{metadata['name']}"


def _path(api: ApiClient, item: Object) -> str:
    path = _path_if_served(api, item)
    if path is None:
        raise OpsError(f"{item['kind']}: the cluster does not know {item['apiVersion']}")
    return path
