"""Every shipped configuration deploys, holds what is verified, and is destroyed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rehearsal.aws.clients import aws_session
from rehearsal.stage import Stage
from rehearsal.verification.checks import verify
from rehearsal.verification.inspection import left_behind, wait_for_nodes
from tests.support.configs import CONFIG_FOLDER
from tests.support.stages import DEFAULT, bootstrapped_stage, stage_on

# tests/rehearsal/test_rehearsal.py deploys the default from the command line.
_SHIPPED = sorted(path for path in CONFIG_FOLDER.glob("*.yaml") if path != DEFAULT)


@pytest.fixture(scope="module")
def default_stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One local AWS, bootstrapped, for all configurations."""
    with bootstrapped_stage(tmp_path_factory.mktemp("local-aws")) as stage:
        yield stage


@pytest.mark.slow(seconds=25)
@pytest.mark.parametrize("path", _SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_configuration_deploys(path: Path, default_stage: Stage, tmp_path: Path) -> None:
    environment = default_stage.environment
    stage = stage_on(environment, path, directory=tmp_path)
    # What the one environment above is made for.
    assert stage.config.region == default_stage.config.region
    assert stage.config.eks.version == default_stage.config.eks.version
    environment.kubernetes.accept_eks_tokens(
        eks_cluster_name=f"{stage.config.name}-eks",
        gateway_url=environment.aws.endpoint,
        session=aws_session(environment.aws),
    )

    assert stage.deploy() is None
    wait_for_nodes(stage.config, clients=environment.clients)
    checks = [
        *verify(
            stage.config,
            tools=stage.tools,
            clients=environment.clients,
            outputs=stage.outputs(),
        )
    ]

    assert len(checks) > 10
    assert [check.check for check in checks if not check.ok] == []
    assert stage.destroy() is None
    assert left_behind(environment, stacks=stage.stacks) == []
