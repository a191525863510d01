"""The rehearsal's HyperPod service on a bad day: calls are refused, or their answers are lost."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from emulator.hyperpod import HyperPodService
from tests.support.provisioner.cloudformation import Time
from tests.support.provisioner.fake_s3 import client_error
from tests.support.provisioner.hyperpod_stack import TIMINGS
from tests.support.provisioner.local_sagemaker import LocalSageMaker

Hook = Callable[[str, Mapping[str, Any]], None]


def _nothing(_operation: str, _request: Mapping[str, Any]) -> None:
    pass


@dataclass
class TroubledSageMaker(LocalSageMaker):
    """Runs a test's hook before each call and after it; what a hook raises, the call raises."""

    before: Hook = _nothing
    after: Hook = _nothing

    def _call(self, operation: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
        self.before(operation, request)
        answer = super()._call(operation, request)
        self.after(operation, request)
        return answer


def troubled_sagemaker(time: Time) -> TroubledSageMaker:
    service = HyperPodService(clock=lambda: time.now, timings=TIMINGS)
    return TroubledSageMaker(service=service)


def conflict(message: str = "The cluster is Updating") -> ClientError:
    return client_error("ConflictException", "Op", message)


def throttling() -> ClientError:
    return client_error("ThrottlingException", "Op", "Rate exceeded")
