"""Every shipped configuration deploys, holds what is verified, and is destroyed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperpod_cdk import load_config
from rehearsal.aws.clients import aws_session
from rehearsal.environment import RehearsalEnvironment, rehearsal_environment
from rehearsal.kubernetes import InProcessControlPlane
from rehearsal.progress import Progress
from rehearsal.stage import Stage, choose_chart
from rehearsal.verification.checks import verify
from rehearsal.verification.inspection import left_behind, wait_for_nodes
from tests.support.configs import CONFIG_FOLDER

_SHIPPED = sorted(CONFIG_FOLDER.glob("*.yaml"))
_DEFAULT = load_config(CONFIG_FOLDER / "default.yaml")


def _eks_cluster_name(prefix: str) -> str:
    return f"{prefix}-eks"


def _stage(path: Path, environment: RehearsalEnvironment, directory: Path) -> Stage:
    config = load_config(path)
    return Stage(
        environment=environment,
        config_path=path,
        config=config,
        chart=choose_chart(config),
        work_directory=directory,
        progress=Progress(),
    )


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RehearsalEnvironment]:
    """One local AWS, bootstrapped, for all configurations."""
    directory = tmp_path_factory.mktemp("local-aws")
    assert _DEFAULT.region is not None
    with rehearsal_environment(
        region=_DEFAULT.region,
        kubernetes=InProcessControlPlane(kubernetes_version=_DEFAULT.eks.version),
        eks_cluster_name=_eks_cluster_name(_DEFAULT.name),
        log_file=directory / "local-aws.log",
    ) as environment:
        _stage(CONFIG_FOLDER / "default.yaml", environment, directory).bootstrap()
        yield environment


@pytest.mark.slow(seconds=25)
@pytest.mark.parametrize("path", _SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_configuration_deploys(
    path: Path, environment: RehearsalEnvironment, tmp_path: Path
) -> None:
    stage = _stage(path, environment, tmp_path)
    # What the one environment below is made for.
    assert stage.config.region == _DEFAULT.region
    assert stage.config.eks.version == _DEFAULT.eks.version
    environment.kubernetes.accept_eks_tokens(
        eks_cluster_name=_eks_cluster_name(stage.config.name),
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
