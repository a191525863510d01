"""What a validator finds makes a deployment fail, for the cause that it names."""

import itertools
import re
from collections.abc import Callable, Iterator

import pytest

from hyperpod_cdk.schema.errors import Severity
from hyperpod_ops.preflight.validators import VALIDATORS
from rehearsal.aws.local_aws import LocalAws, LocalAwsSettings
from rehearsal.hyperpod import HyperPodApi, HyperPodService, Timings
from tests.support.failing_deployments import account, capacity, control_plane, network
from tests.support.failing_deployments.failure import Failure
from tests.support.partial_deployment import (
    Deployment,
    StepFailedError,
    Networks,
    Synthesis,
)
from tests.support.provisioner.cloudformation import Time

FAILURES: tuple[Failure, ...] = (
    *account.FAILURES,
    *control_plane.FAILURES,
    *capacity.FAILURES,
    *network.FAILURES,
)
# Nodes are tried again after so long that looking at them costs little.
_TIMINGS = Timings(node_retry=600, node_retry_limit=600)
Deploy = Callable[[Failure, pytest.MonkeyPatch], Deployment]


@pytest.fixture(scope="module")
def new_deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deploy]:
    """Return a function that begins the deployment of a case, in an account of its own."""
    networks, numbers = Networks(), itertools.count(1)
    synthesis = Synthesis(directory=tmp_path_factory.mktemp("templates"))
    with (
        HyperPodApi() as api,
        LocalAws(LocalAwsSettings(hyperpod_api=api.url)) as aws,
    ):
        networks.connect(aws)

        def begin(failure: Failure, patch: pytest.MonkeyPatch) -> Deployment:
            time = Time()
            api.service = service = HyperPodService(
                clock=lambda: time.now, timings=_TIMINGS, subnets=networks, network=networks
            )
            return Deployment(
                aws=aws,
                hyperpod=service,
                time=time,
                account=f"{next(numbers):012}",
                region=failure.region,
                document=failure.document,
                synthesis=synthesis,
                patch=patch,
            )

        yield begin


@pytest.mark.parametrize("failure", FAILURES, ids=str)
def test_the_deployment_fails_for_what_is_found(
    failure: Failure, new_deployment: Deploy, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment = new_deployment(failure, monkeypatch)
    if failure.before is not None:
        failure.before(deployment)

    found = list(VALIDATORS[failure.validator](deployment.config, deployment.place))
    try:
        said = str(failure.deploy(deployment) or "")
    except StepFailedError as refused:
        said = str(refused)

    lines = "\n".join(str(each.finding) for each in found)
    assert re.search(failure.found, lines), lines
    if failure.said is None:
        assert {each.finding.severity for each in found} == {Severity.WARNING}
        assert said in ("", "none")
    else:
        assert re.search(failure.said, said), said
