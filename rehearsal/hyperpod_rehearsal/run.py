"""One rehearsal from start to end, and every scenario with every configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from hyperpod_cdk import Config, load_config
from hyperpod_cli.inspect.report.page import Attempt, write
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_emulator.aws.local_aws import ACCOUNT, aws_session
from hyperpod_rehearsal.cdk_cli import AppRefusedError, CdkCliProcess, CdkError
from hyperpod_rehearsal.environment import (
    RehearsalEnvironment,
    eks_cluster_of,
    rehearsal_environment,
)
from hyperpod_rehearsal.existing_resources import DEFAULT_REGION, account_of, named_account
from hyperpod_rehearsal.kept_rehearsal import keep
from hyperpod_rehearsal.messages import Listener
from hyperpod_rehearsal.owner import allow_loss
from hyperpod_rehearsal.progress import Progress
from hyperpod_rehearsal.report import INTERRUPTED, Fact, Report, deployment_lines, report_page
from hyperpod_rehearsal.scenarios import SCENARIOS, Scenario
from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.stand_in_chart import ChartChoice, choose_chart
from hyperpod_rehearsal.training_picture import picture
from hyperpod_rehearsal.verification import (
    cluster_report,
    left_behind,
    release_report,
    retained,
    verify,
    wait_for_nodes,
)
from hyperpod_stacks.table import STACKS, release_stack

# Commands below it would act on the user's own account.
_ENDED = (
    "Not everything could be taken down. The local AWS has ended since: run no command of this."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rehearsal:
    """What to rehearse, and the directory for what comes of it.

    Without a scenario, it is a plain deployment, which may be refused by what `hyperpod-cdk deploy`
    looks at first; else AWS shows what it refuses. All that is kept stays up until interrupted.
    """

    config: Config
    config_path: Path
    chart: ChartChoice
    scenario: Scenario | None
    work_directory: Path
    region: str
    express: bool = False
    keep: bool = False
    missing: Sequence[str] = ()
    may_be_refused: bool = False

    def run(self, progress: Progress) -> Report:
        """Deploy, verify and take down; return the report, which is written to a file too.

        Raises:
            OpsError: The configuration lacks something for the scenario.
            AppRefusedError: The app refused the configuration.
            LocalAwsError: The local AWS did not start.
        """
        lacking = None if self.scenario is None else self.scenario.lacking(self.config)
        scenario = "default" if self.scenario is None else self.scenario.name
        needed = None if self.scenario is None else self.scenario.machine_lacks()
        if needed is not None:
            raise OpsError(f"Scenario {scenario} needs {needed}.")
        if lacking is not None:
            raise OpsError(
                f"Scenario {scenario} needs {lacking}, which {self.config_path} does not have."
            )
        report = Report(config=str(self.config_path), scenario=scenario)
        self.work_directory.mkdir(parents=True, exist_ok=True)
        for log in self.work_directory.glob("*.log"):
            log.unlink()
        attempts: list[Attempt] = []
        try:
            self._run(report, progress=progress, attempts=attempts)
        except CdkError as error:
            report.error = str(error)
            report.ok = False
            if isinstance(error, AppRefusedError):
                raise
        except KeyboardInterrupt:
            report.error = INTERRUPTED
            raise
        finally:
            report.seconds = round(progress.elapsed, 1)
            report.write(self.work_directory / "report.json")
            problem = write(
                report_page(
                    report,
                    config=self.config,
                    region=self.region,
                    attempts=attempts,
                ),
                self.work_directory / "report.html",
            )
            if problem is not None:
                progress.show(f"There is no report: {problem}")
            if report.training is not None:
                drawn = self.work_directory / "training.svg"
                drawn.write_text(picture(report.training), encoding="utf-8")
        return report

    def _run(self, report: Report, *, progress: Progress, attempts: list[Attempt]) -> None:
        progress.highlight(f"Rehearsing {self.config_path} on a local AWS")
        # The CLI takes a second to start, beside the local AWS.
        with (
            CdkCliProcess().begin() as cdk,
            rehearsal_environment(
                account=account_of(self.config),
                region=self.region,
                kubernetes_version=self.config.eks.version,
                eks_cluster_name=eks_cluster_of(self.config),
                log_file=self.work_directory / "local-aws.log",
                cdk=cdk,
            ) as environment,
        ):
            stage = Stage(
                environment=environment,
                config_path=self.config_path,
                config=self.config,
                chart=self.chart,
                work_directory=self.work_directory,
                progress=progress,
                express=self.express,
                missing=self.missing,
                attempts=attempts,
            )
            stage.bootstrap()
            if self.scenario is None:
                self._plain(stage, report=report)
            else:
                play(self.scenario, stage=stage, report=report)
            progress.say("\n".join(deployment_lines(report)))
            if self.keep:
                with progress.paused():
                    keep(stage)
                _consent(stage)
                stage.delete_added()
            _take_down(stage, report=report)

    def _plain(self, stage: Stage, *, report: Report) -> None:
        listener = Listener(stage)
        refusal = stage.refusal() if self.may_be_refused else ""
        report.refused = bool(refusal)
        report.error = refusal or stage.deploy()
        report.stacks, report.outputs = stage.reports(), stage.outputs()
        if report.error is not None:
            return
        clients = stage.environment.clients
        with stage.progress.step("Waiting for the nodes"):
            wait_for_nodes(stage.config, clients=clients)
        if stage.config.cluster.exists:
            report.cluster = cluster_report(clients, name=stage.config.cluster.name)
        if stage.config.control_plane is not None:
            report.release = release_report(stage.tools, config=stage.config)
        with stage.progress.step("Verifying"):
            for check in verify(
                stage.config,
                tools=stage.tools,
                clients=clients,
                outputs=report.outputs,
                deployer=stage.deployer.client,
            ):
                _note(check, stage=stage, report=report)
        for check in listener.judged(()):
            _note(check, stage=stage, report=report)
        report.ok = all(check.ok for check in report.verify)


def play(scenario: Scenario, *, stage: Stage, report: Report) -> None:
    """Play a scenario on a stage that is bootstrapped, and fill in the report.

    It ends with the first check that fails: what others wait for may then never come. A scenario of
    a first creation begins without the HyperPod stack: one that is there goes first.
    """
    if scenario.begins == "new" and stage.status("hyperpod") is not None:
        report.error = stage.destroy("hyperpod")
        if report.error is not None:
            return
    stage.progress.highlight(f"Scenario {scenario.name}: {scenario.summary}")
    stage.training = None
    listener = Listener(stage, begins_deployed=scenario.begins != "new")
    for check in scenario.checks(stage):
        _note(check, stage=stage, report=report)
        report.error = check.message if check.message is not None else report.error
        if not check.ok:
            break
    # What lasts is nothing new to tell.
    listener.look()
    report.stacks, report.outputs = stage.reports(), stage.outputs()
    report.training = stage.training
    stage.progress.say("Afterwards: nothing is wrong any more, the configuration is as it was")
    for check in chain(scenario.recover(stage), listener.judged(scenario.messages)):
        _note(check, stage=stage, report=report)
    report.ok = all(check.ok for check in report.verify)


def _note(check: Fact, *, stage: Stage, report: Report) -> None:
    report.verify.append(check)
    instead = f": {check.found}" if check.found else ""
    stage.progress.say(f"  {'ok  ' if check.ok else 'FAIL'} {check.title}{instead}")


def _consent(stage: Stage) -> None:
    """Let go of what users have in the cluster: it ends with the local AWS in any case."""
    name = stage.config.eks_cluster_name
    if allow_loss(stage.environment.clients, name, stack_name=release_stack(stage.config)):
        stage.progress.say(
            f"Consenting to the loss of users' objects in {name}, as its owner would"
        )


def _take_down(stage: Stage, *, report: Report) -> None:
    problem = stage.destroy()
    for resource in retained(stage.environment.clients):
        stage.progress.say(f"  kept, as on AWS: {resource}")
    stacks = [stage.stack(kind) for kind in STACKS]
    left = left_behind(stage.environment, stacks=stacks, config=stage.config)
    if left and problem is None:
        problem = "left behind by cdk destroy: " + ", ".join(left)
    if problem is not None:
        report.ok = False
        report.error = report.error if report.error is not None else f"{_ENDED}\n{problem}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Played:
    """What came of a scenario with a configuration, by the name of its file without suffix.

    What is wrong is the checks that failed, or, if it does not apply, what the configuration lacks
    or why `hyperpod-cdk deploy` refuses it.
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
        return "\n".join([line, *(f"         {problem}" for problem in self.wrong)])


def play_all(paths: Sequence[Path], *, work_directory: Path, progress: Progress) -> list[Played]:
    """Play every scenario with each configuration, in a folder each; return what came of each.

    Raises:
        OpsError: The configurations differ in region, version or account.
        CdkError: A configuration does not synthesize, or the bootstrap failed.
        LocalAwsError: The local AWS did not start.
    """
    configs = {path: load_config(path) for path in paths}
    region, version, account = _one_place(configs)
    with rehearsal_environment(
        account=account,
        region=region,
        kubernetes_version=version,
        eks_cluster_name=next(filter(None, map(eks_cluster_of, configs.values())), None),
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
    regions = {config.region or DEFAULT_REGION for config in configs.values()}
    served = [config for config in configs.values() if config.control_plane is not None]
    versions = {config.eks.version for config in served or configs.values()}
    accounts = {account for config in configs.values() if (account := named_account(config))}
    if len(regions) != 1 or len(versions) != 1 or len(accounts) > 1:
        conflicts = "; ".join(
            f"{path} is for {config.region or DEFAULT_REGION}, Kubernetes {config.eks.version} and "
            f"account {named_account(config) or 'any'}"
            for path, config in configs.items()
        )
        raise OpsError(f"One local AWS cannot hold all: {conflicts}. Play them apart.")
    [region], [version] = regions, versions
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
        lacking = scenario.lacking(config) or scenario.machine_lacks()
        if lacking is not None:
            needs = (f"needs {lacking}",)
            yield Played(config=path.stem, scenario=name, wrong=needs, applies=False)
            continue
        report = Report(config=str(path), scenario=name)
        begun = progress.elapsed
        play(scenario, stage=stage, report=report)
        wrong = tuple(check.title for check in report.verify if not check.ok)
        if not wrong and not report.ok:
            wrong = (report.error or "it did not end",)
        yield Played(config=path.stem, scenario=name, seconds=progress.elapsed - begun, wrong=wrong)
    problem = stage.destroy()
    left = left_behind(environment, stacks=stage.stacks, config=stage.config)
    remains = [*([problem] if problem else []), *(f"left behind: {item}" for item in left)]
    yield Played(config=path.stem, scenario="(destroyed)", wrong=tuple(remains))
