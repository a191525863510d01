"""A deployed HyperPod cluster whose stack is updated, cancelled and retried."""

import contextlib
import json
from typing import Any

from emulator.hyperpod import HyperPodService, Unknowns
from hyperpod_shared.errors import ProvisioningError
from hyperpod_shared.owner import TAG_PREFIX
from tests.support.provisioner.cloudformation import Time, Waiter
from tests.support.provisioner.hyperpod_stack import describe, hyperpod_stack, tags_of_cluster
from tests.support.provisioner.local_sagemaker import LocalSageMaker

NAME = "ml-cluster"
_ENOUGH_SECONDS = 1000.0


def properties_of(wanted: dict[str, Any]) -> dict[str, str]:
    return {"ClusterName": NAME, "Request": json.dumps(wanted)}


class Deployed:
    """A stack with a cluster, against the local HyperPod API."""

    def __init__(self, wanted: dict[str, Any], unknowns: Unknowns) -> None:
        self.time = Time()
        service = HyperPodService(clock=lambda: self.time.now, unknowns=unknowns)
        self.sagemaker = LocalSageMaker(service=service)
        self.stack = hyperpod_stack(self.sagemaker, self.time)
        self.waiters: list[Waiter] = []
        self.wanted = properties_of(wanted)
        self.stack.create(self.wanted)
        self.settle()
        self.sagemaker.calls.clear()

    def settle(self) -> None:
        self.time.now += _ENOUGH_SECONDS

    @property
    def described(self) -> dict[str, Any]:
        return describe(self.sagemaker, NAME)

    @property
    def tags(self) -> dict[str, str]:
        tags = tags_of_cluster(self.sagemaker)
        return {key: value for key, value in tags.items() if not key.startswith(TAG_PREFIX)}

    def update(self, wanted: dict[str, str]) -> None:
        """Update the stack to the end."""
        self.stack.cloudformation.status = "UPDATE_IN_PROGRESS"
        waiter = self.stack.begin("Update", wanted, self.wanted)
        self._poll_until_done(waiter)
        self.wanted = wanted
        self.stack.cloudformation.status = "UPDATE_COMPLETE"

    def cancel_update(self, wanted: dict[str, str], *, polls: int, retries: bool) -> None:
        """Begin an update, cancel it after some polls, roll it back; its waiter goes on."""
        self.stack.cloudformation.status = "UPDATE_IN_PROGRESS"
        cancelled = self.stack.begin("Update", wanted, self.wanted)
        request = self.stack.requests
        self.waiters.append(cancelled)
        for _ in range(polls):
            self._poll_former()
        self.time.sleep(1)
        self.stack.cloudformation.status = "UPDATE_ROLLBACK_IN_PROGRESS"
        rollback = self.stack.begin("Update", self.wanted, wanted)
        self._poll_until_done(rollback)
        if retries:
            self.settle()
            latest, self.stack.requests = self.stack.requests, request
            with contextlib.suppress(ProvisioningError):
                self.stack.start("Update", wanted, self.wanted)
            self.stack.requests = latest
        self.stack.cloudformation.status = "UPDATE_ROLLBACK_COMPLETE"
        self._poll_former()

    def _poll_until_done(self, waiter: Waiter) -> None:
        for _ in range(120):
            self._poll_former()
            if waiter.poll().complete:
                return
            self.time.sleep(30)
        raise TimeoutError

    def _poll_former(self) -> None:
        for waiter in list(self.waiters):
            try:
                done = waiter.poll().complete
            except ProvisioningError:
                done = True
            if done:
                self.waiters.remove(waiter)
        self.time.sleep(30)
