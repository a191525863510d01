"""Which calls botocore makes again when their answer is lost."""

import time
from collections.abc import Callable
from typing import Any, NoReturn

import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.exceptions import ReadTimeoutError

from provisioner.aws.api import Clients

NODES = {"InstanceGroupName": "workers"}


@pytest.mark.parametrize(
    ("call", "attempts"),
    [
        (lambda client: client.describe_cluster(ClusterName="ml"), 4),
        (
            lambda client: client.update_cluster_software(ClusterName="ml", InstanceGroups=[NODES]),
            1,
        ),
    ],
    ids=["a read", "a patch, which wipes root volumes"],
)
def test_a_read_is_repeated_and_a_patch_is_not(
    call: Callable[[Any], object], attempts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "any")
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
    clients, sent = Clients(region="us-west-2"), []

    def lose(request: AWSPreparedRequest, **_event: object) -> NoReturn:
        sent.append(request)
        raise ReadTimeoutError(endpoint_url=request.url)

    clients.session.events.register("before-send", lose)
    with pytest.raises(ReadTimeoutError):
        call(clients.sagemaker)
    assert len(sent) == attempts
