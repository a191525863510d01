"""Answers of AWS without what the models of its services do not require."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
from botocore.client import BaseClient

from hyperpod_emulator.hyperpod.service_model import without_optional


@contextmanager
def omissions(seed: int) -> Iterator[None]:
    """Leave out some optional members of what boto3's clients are answered meanwhile."""
    chance = Random(seed)  # noqa: S311 - no secret
    # Not in the stubs; the events of botocore are a client's own, and clients are made later.
    call = BaseClient._make_api_call  # type: ignore[attr-defined]

    def answered(client: BaseClient, operation: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        answer = call(client, operation, asked)
        # The local AWS asks itself in threads of its own.
        if threading.current_thread() is not threading.main_thread():
            return dict(answer)
        model = client.meta.service_model
        # Only SageMaker's model has patterns for all that is no free text.
        is_exact = model.service_name == "sagemaker"
        return without_optional(
            model.operation_model(operation).output_shape,
            answer,
            request=asked if is_exact else {},
            chance=chance,
            texts=is_exact,
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", answered)
        yield
