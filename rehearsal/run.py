"""One rehearsal from start to end."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from emulator.kubernetes import InProcessControlPlane
from hyperpod_cdk import Config
from hyperpod_cli.inspect.report.page import Attempt, write
from rehearsal.cdk_cli import AppRefusedError, CdkError
from rehearsal.chart_choice import ChartChoice
from rehearsal.environment import rehearsal_environment
from rehearsal.existing_resources import account_of
from rehearsal.kept import keep
from rehearsal.progress import Progress
from rehearsal.report import INTERRUPTED, Check, Report, deployment_lines
from rehearsal.report_page import report_page
from rehearsal.scenarios import Scenario
from rehearsal.stage import Stage
from rehearsal.verification.checks import verify
from rehearsal.verification.inspection import (
    allow_loss,
    cluster_report,
    left_behind,
    release_report,
    retained,
    wait_for_nodes,
)

# Commands below it would act on the user's own account.
_ENDED = (
    "Not everything could be taken down. The local AWS has ended since: run no command of this."
)


class ScenarioDoesNotApplyError(Exception):
    """A configuration lacks something for a scenario; the text says what."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rehearsal:
    """What to rehearse and where to put what comes of it.

    Attributes:
        config: The configuration.
        config_path: File it came from.
        chart: Chart of the HyperPod dependencies.
        scenario: What goes wrong, or changes; None for a plain deployment.
        work_directory: Gets the cloud assembly, the logs and the report.
        region: Region that the deployment goes to.
        express: Whether it is deployed in CloudFormation's express mode.
        keep: Leave everything up until interrupted, before taking it down.
    """

    config: Config
    config_path: Path
    chart: ChartChoice
    scenario: Scenario | None
    work_directory: Path
    region: str
    express: bool = False
    keep: bool = False

    def run(self, progress: Progress) -> Report:
        """Deploy, verify and take down; return the report, which is written to a file too.

        Raises:
            ScenarioDoesNotApplyError: The configuration lacks something for the scenario.
            AppRefusedError: The app refused the configuration.
            LocalAwsError: The local AWS did not start.
        """
        lacking = None if self.scenario is None else self.scenario.lacking(self.config)
        scenario = "default" if self.scenario is None else self.scenario.name
        if lacking is not None:
            raise ScenarioDoesNotApplyError(
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
            write(
                report_page(
                    report,
                    config=self.config,
                    region=self.region,
                    assembly=self.work_directory / "cdk.out",
                    attempts=attempts,
                ),
                self.work_directory / "report.html",
            )
        return report

    def _run(self, report: Report, *, progress: Progress, attempts: list[Attempt]) -> None:
        progress.say("Starting the local AWS, HyperPod API and Kubernetes API ...")
        with rehearsal_environment(
            account=account_of(self.config),
            region=self.region,
            kubernetes=InProcessControlPlane(kubernetes_version=self.config.eks.version),
            eks_cluster_name=self.config.eks_cluster_name,
            log_file=self.work_directory / "local-aws.log",
        ) as environment:
            stage = Stage(
                environment=environment,
                config_path=self.config_path,
                config=self.config,
                chart=self.chart,
                work_directory=self.work_directory,
                progress=progress,
                express=self.express,
                attempts=attempts,
            )
            stage.bootstrap()
            if self.scenario is None:
                self._plain(stage, report=report)
            else:
                play(self.scenario, stage=stage, report=report)
            if self.keep:
                progress.show("\n".join(deployment_lines(report)))
                keep(stage)
                _consent(stage)
            _take_down(stage, report=report)

    def _plain(self, stage: Stage, *, report: Report) -> None:
        report.error = stage.deploy()
        report.stacks, report.outputs = stage.reports(), stage.outputs()
        if report.error is not None:
            return
        clients = stage.environment.clients
        with stage.progress.step("Waiting for the nodes"):
            wait_for_nodes(stage.config, clients=clients)
        report.cluster = cluster_report(clients, name=stage.config.cluster.name)
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
        report.ok = all(check.ok for check in report.verify)


def play(scenario: Scenario, *, stage: Stage, report: Report) -> None:
    """Play a scenario on a stage that is bootstrapped, and fill in the report.

    A scenario of a first creation begins without the HyperPod stack: one that is there goes first.
    """
    if not scenario.on_a_deployment and stage.status("hyperpod") is not None:
        report.error = stage.destroy("hyperpod")
        if report.error is not None:
            return
    stage.progress.say(f"Scenario {scenario.name}: {scenario.summary}")
    for check in scenario.play(stage):
        _note(check, stage=stage, report=report)
        report.error = check.message if check.message is not None else report.error
    report.stacks, report.outputs = stage.reports(), stage.outputs()
    stage.progress.say("Afterwards: nothing is wrong any more, the configuration is as it was")
    for check in scenario.recover(stage):
        _note(check, stage=stage, report=report)
    report.ok = all(check.ok for check in report.verify)


def _note(check: Check, *, stage: Stage, report: Report) -> None:
    report.verify.append(check)
    found = f": {check.found}" if check.found else ""
    stage.progress.say(f"  {'ok  ' if check.ok else 'FAIL'} {check.check}{found}")


def _consent(stage: Stage) -> None:
    """Let go of what users have in the cluster: it ends with the local AWS in any case."""
    name = stage.config.eks_cluster_name
    if allow_loss(stage.environment.clients, name, stack_name=stage.stack("hyperpod")):
        stage.progress.say(
            f"Consenting to the loss of users' objects in {name}, as its owner would"
        )


def _take_down(stage: Stage, *, report: Report) -> None:
    problem = stage.destroy()
    for resource in retained(stage.environment.clients):
        stage.progress.say(f"  kept, as on AWS: {resource}")
    left = left_behind(stage.environment, stacks=stage.stacks, config=stage.config)
    if left and problem is None:
        problem = "left behind by cdk destroy: " + ", ".join(left)
    if problem is not None:
        report.ok = False
        report.error = report.error if report.error is not None else f"{_ENDED}\n{problem}"
