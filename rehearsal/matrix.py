"""Every scenario with every configuration, on one local AWS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from emulator.aws.clients import aws_session
from emulator.aws.local_aws import ACCOUNT
from emulator.kubernetes import InProcessControlPlane
from hyperpod_cdk import Config, load_config
from rehearsal.chart_choice import choose_chart
from rehearsal.environment import RehearsalEnvironment, rehearsal_environment
from rehearsal.existing_resources import DEFAULT_REGION, named_account
from rehearsal.progress import Progress
from rehearsal.report import Report
from rehearsal.run import play
from rehearsal.scenarios import SCENARIOS
from rehearsal.stage import Stage
from rehearsal.verification.inspection import left_behind


class DifferentPlacesError(Exception):
    """Configurations cannot share one local AWS; the text says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Played:
    """What came of a scenario with a configuration.

    Attributes:
        config: Name of the configuration's file, without its suffix.
        scenario: Name of the scenario.
        seconds: How long it took.
        wrong: The checks that failed, or what the configuration lacks; empty when all went well.
        applies: Whether it was played.
    """

    config: str
    scenario: str
    seconds: float = 0.0
    wrong: tuple[str, ...] = ()
    applies: bool = True

    @property
    def ok(self) -> bool:
        """Whether nothing went wrong; true for what does not apply."""
        return not self.applies or not self.wrong

    def __str__(self) -> str:
        outcome = ("ok" if self.ok else "FAIL") if self.applies else "--"
        line = f"  {outcome:4} {self.config:14} {self.scenario:32} {self.seconds:5.0f} s"
        return "\n".join([line, *(f"         {each}" for each in self.wrong)])


def play_all(paths: Sequence[Path], *, work_directory: Path, progress: Progress) -> list[Played]:
    """Play every scenario with each configuration; return what came of each.

    Args:
        paths: Files of configurations of one region and Kubernetes version.
        work_directory: Gets a folder for each configuration.
        progress: Prints what is done.

    Raises:
        DifferentPlacesError: The configurations differ in region, version or account.
        CdkError: A configuration does not synthesize, or the bootstrap failed.
        LocalAwsError: The local AWS did not start.
    """
    configs = {path: load_config(path) for path in paths}
    region, version, account = _one_place(configs)
    kubernetes = InProcessControlPlane(kubernetes_version=version)
    with rehearsal_environment(
        account=account,
        region=region,
        kubernetes=kubernetes,
        eks_cluster_name=configs[paths[0]].eks_cluster_name,
        log_file=work_directory / "local-aws.log",
    ) as environment:
        return [
            played
            for path, config in configs.items()
            for played in _with_one(
                path, config, environment, work_directory=work_directory, progress=progress
            )
        ]


def _one_place(configs: Mapping[Path, Config]) -> tuple[str, str, str]:
    """Return region, Kubernetes version and account; a configuration may leave the account open."""
    places = {(config.region or DEFAULT_REGION, config.eks.version) for config in configs.values()}
    accounts = {account for config in configs.values() if (account := named_account(config))}
    if len(places) != 1 or len(accounts) > 1:
        found = "; ".join(
            f"{path} is for {config.region or DEFAULT_REGION}, Kubernetes {config.eks.version} and "
            f"account {named_account(config) or 'any'}"
            for path, config in configs.items()
        )
        raise DifferentPlacesError(f"One local AWS cannot hold all: {found}. Play them apart.")
    [(region, version)] = places
    return region, version, next(iter(accounts), ACCOUNT)


def _with_one(
    path: Path,
    config: Config,
    environment: RehearsalEnvironment,
    *,
    work_directory: Path,
    progress: Progress,
) -> Iterator[Played]:
    environment.kubernetes.accept_eks_tokens(
        eks_cluster_name=config.eks_cluster_name,
        gateway_url=environment.aws.endpoint,
        session=aws_session(environment.aws),
    )
    directory = work_directory / path.stem
    directory.mkdir(parents=True, exist_ok=True)
    stage = Stage(
        environment=environment,
        config_path=path,
        config=config,
        chart=choose_chart(config),
        work_directory=directory,
        progress=progress,
    )
    stage.bootstrap()
    for name, scenario in SCENARIOS.items():
        lacking = scenario.lacking(config)
        if lacking is not None:
            needs = (f"needs {lacking}",)
            yield Played(config=path.stem, scenario=name, wrong=needs, applies=False)
            continue
        report = Report(config=str(path), scenario=name)
        begun = progress.elapsed
        play(scenario, stage=stage, report=report)
        wrong = tuple(check.check for check in report.verify if not check.ok)
        if not wrong and not report.ok:
            wrong = (report.error or "it did not end",)
        yield Played(config=path.stem, scenario=name, seconds=progress.elapsed - begun, wrong=wrong)
    problem = stage.destroy()
    left = left_behind(environment, stacks=stage.stacks, config=stage.config)
    remains = [*([problem] if problem else []), *(f"left behind: {item}" for item in left)]
    yield Played(config=path.stem, scenario="(destroyed)", wrong=tuple(remains))
