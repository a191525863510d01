"""The SDK's models of services, each read once: MiniStack reads some twice, in a session each."""

from typing import Any

import botocore.session
from botocore.exceptions import UnknownServiceError

from emulator.aws.ministack import iam_actions


def install() -> None:
    """Let MiniStack share one session, whose loader keeps what it has read."""
    session = botocore.session.get_session()
    loader = session.get_component("data_loader")

    def load_botocore_model(name: str) -> dict[str, Any]:
        try:
            model: dict[str, Any] = loader.load_service_model(name, "service-2")
        except UnknownServiceError:
            return {}
        return model

    botocore.session.get_session = lambda env_vars=None: session  # noqa: ARG005 - its signature
    iam_actions.load_botocore_model = load_botocore_model
