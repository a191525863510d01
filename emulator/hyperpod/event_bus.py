"""Puts the events of clusters on the EventBridge of a local AWS, one after the other."""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from emulator.aws.local_aws import AwsClients
from emulator.aws.settings import SAGEMAKER_EVENTS


@dataclass(slots=True)
class LocalEventBus:
    """The event bus, once a local AWS is connected; what happens before goes nowhere."""

    _clients: AwsClients | None = None
    _worker: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="event-bus")
    )

    def connect(self, clients: AwsClients) -> None:
        """Put events with these clients from now on."""
        self._clients = clients

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _error: type[BaseException] | None,
        _value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._worker.shutdown(cancel_futures=True)

    def put(self, *, cluster_arn: str, detail_type: str, detail: Mapping[str, Any]) -> None:
        """See `emulator.hyperpod.EventBus`."""
        if self._clients is not None:
            # A copy of the moment: what it is about goes on changing.
            self._worker.submit(
                self._put, self._clients, cluster_arn, detail_type, json.dumps(detail)
            )

    def wait(self) -> None:
        """Return when what has happened is on the bus."""
        self._worker.submit(lambda: None).result()

    @staticmethod
    def _put(clients: AwsClients, cluster_arn: str, detail_type: str, detail: str) -> None:
        entry = {
            "Source": SAGEMAKER_EVENTS,
            "DetailType": detail_type,
            "Detail": detail,
            "Resources": [cluster_arn],
        }
        clients("events").put_events(Entries=[entry])
