"""The rehearsal's HyperPod service behind boto3's calling convention, without a network."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_emulator.hyperpod import ApiError, Caller, HyperPodService
from hyperpod_shared.owner import TAG_PREFIX

_WRITES = frozenset(
    {
        "AddTags",
        "CreateCluster",
        "DeleteCluster",
        "DeleteTags",
        "UpdateCluster",
        "UpdateClusterSoftware",
    }
)


def _marks_only(request: Mapping[str, Any]) -> bool:
    keys = [tag["Key"] for tag in request.get("Tags", ())]
    only_tags = request.keys() == {"ResourceArn", "Tags"}
    return only_tags and all(key.startswith(TAG_PREFIX) for key in keys)


def _parsed(answer: Any, key: str = "") -> Any:  # noqa: ANN401 - whatever is answered
    """Return an answer as botocore parses it: with times."""
    if isinstance(answer, Mapping):
        return {name: _parsed(value, name) for name, value in answer.items()}
    if isinstance(answer, list | tuple):
        return [_parsed(value) for value in answer]
    is_time = key.endswith("Time") and isinstance(answer, int | float)
    return datetime.fromtimestamp(answer, tz=UTC) if is_time else answer


@dataclass
class LocalSageMaker:
    """Calls the service as boto3's client would, and counts what it was asked."""

    service: HyperPodService
    calls: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    @property
    def writes(self) -> list[str]:
        """The calls that change something, but for the provisioner's own tags."""
        return [
            operation
            for operation, request in self.calls
            if operation in _WRITES and not _marks_only(request)
        ]

    def last(self, operation: str) -> Mapping[str, Any]:
        return next(request for name, request in reversed(self.calls) if name == operation)

    def __getattr__(self, method: str) -> Callable[..., Mapping[str, Any]]:
        """Return a method of boto3's."""
        operation = "".join(map(str.capitalize, method.split("_")))
        return lambda **request: self._call(operation, request)

    def _call(self, operation: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
        self.calls.append((operation, request))
        try:
            answer: Mapping[str, Any] = _parsed(self.service.call(operation, request, Caller()))
        except ApiError as error:
            raise ClientError(
                {"Error": {"Code": error.code, "Message": error.message}}, operation
            ) from error
        return answer
