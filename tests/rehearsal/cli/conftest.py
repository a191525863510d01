"""The deployment that the operator's commands are tried on."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from hyperpod_rehearsal.kept_rehearsal import operator_credentials
from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.verification import wait_for_nodes
from tests.support.on_call import on_call_credentials
from tests.support.operator import Operator
from tests.support.stages import bootstrapped_stage


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The default configuration, deployed, with its nodes."""
    with bootstrapped_stage(tmp_path_factory.mktemp("ops")) as made:
        assert made.deploy_first() is None
        wait_for_nodes(made.config, clients=made.environment.clients)
        yield made


@pytest.fixture(scope="module")
def credentials(stage: Stage) -> Mapping[str, str]:
    """Return those of an administrator."""
    return operator_credentials(stage)


@pytest.fixture
def operator(stage: Stage, credentials: Mapping[str, str], tmp_path: Path) -> Operator:
    """Return somebody who operates it."""
    return Operator(stage=stage, home=tmp_path, credentials=credentials)


@pytest.fixture(scope="module")
def permissions(stage: Stage) -> Mapping[str, str]:
    """Return the credentials of a role that may do what docs/operating.md says."""
    return on_call_credentials(stage)


@pytest.fixture
def on_call(stage: Stage, permissions: Mapping[str, str], tmp_path: Path) -> Operator:
    """Return somebody who operates it with no other permissions."""
    return Operator(stage=stage, home=tmp_path, credentials=permissions)
