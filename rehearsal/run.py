"""One rehearsal from start to end."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from hyperpod_cdk.config import Config
from rehearsal.cdk_cli import CdkCli, CdkError
from rehearsal.chart_choice import ChartChoice
from rehearsal.environment import RehearsalEnvironment, rehearsal_environment
from rehearsal.inspection import cluster_report, cluster_tools, release_report
from rehearsal.nodes import wait_for_nodes
from rehearsal.progress import Progress
from rehearsal.report import Report
from rehearsal.stack_view import (
    allow_termination,
    failure_reasons,
    stack_names,
    stack_outputs,
    stack_reports,
)
from rehearsal.takedown import forgotten, retained
from rehearsal.verification import ClusterTools, verify

_REPOSITORY = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, kw_only=True, slots=True)
class Rehearsal:
    """What to rehearse and where to put what comes of it.

    Attributes:
        config: The configuration.
        config_path: File it came from.
        chart: Chart of the HyperPod dependencies.
        scenario: Name for the report.
        work_directory: Gets the cloud assembly, the logs and the report.
        region: Region that the deployment goes to.
        keep: Leave everything up until interrupted, before taking it down.
    """

    config: Config
    config_path: Path
    chart: ChartChoice
    scenario: str
    work_directory: Path
    region: str
    keep: bool = False

    def run(self, progress: Progress) -> Report:
        """Deploy, verify and take down; return the report, which is written to a file too."""
        report = Report(config=str(self.config_path), scenario=self.scenario)
        self.work_directory.mkdir(parents=True, exist_ok=True)
        try:
            with ExitStack() as stack:
                with progress.step("Starting the local AWS, HyperPod API and Kubernetes API"):
                    environment = stack.enter_context(
                        rehearsal_environment(
                            region=self.region,
                            kubernetes_version=self.config.eks.version,
                            eks_cluster_name=f"{self.config.name}-eks",
                            log_file=self.work_directory / "local-aws.log",
                        )
                    )
                self._in(environment, report=report, progress=progress)
            report.ok = report.error is None and all(check.ok for check in report.verify)
        except CdkError as error:
            report.error = str(error)
        finally:
            report.seconds = round(progress.elapsed, 1)
            report.write(self.work_directory / "report.json")
        return report

    @property
    def _stacks(self) -> list[str]:
        return stack_names(self.config.name, storage=self.config.storage is not None)

    def _in(self, environment: RehearsalEnvironment, *, report: Report, progress: Progress) -> None:
        cli = CdkCli(
            repository=_REPOSITORY,
            environment=environment.aws.environment(),
            work_directory=self.work_directory,
            context={"config": str(self.config_path), "chart": str(self.chart.path)},
        )
        tools = cluster_tools(environment, directory=self.work_directory)
        with progress.step(f"Synthesizing {self.config_path} with {self.chart.description}"):
            cli.synth()
        with progress.step("cdk bootstrap"):
            cli.bootstrap(region=self.region)
        self._deploy(cli, environment=environment, report=report, progress=progress)
        report.stacks = stack_reports(environment.clients, self._stacks)
        report.outputs = stack_outputs(environment.clients, self._stacks)
        if report.error is None:
            self._inspect(environment, tools=tools, report=report, progress=progress)
        if self.keep:
            self._wait(tools, environment=environment, progress=progress)
        self._take_down(cli, environment=environment, report=report, progress=progress)

    def _deploy(
        self,
        cli: CdkCli,
        *,
        environment: RehearsalEnvironment,
        report: Report,
        progress: Progress,
    ) -> None:
        def on_line(line: str) -> None:
            # The CLI marks a stack that is done, and one that failed.
            if line.lstrip().startswith(("✅", "❌")):
                progress.say(f"  {line.strip()}")

        try:
            with progress.step("cdk deploy --all --concurrency 3"):
                cli.deploy(on_line=on_line)
        except CdkError as error:
            reasons = failure_reasons(environment.clients, self._stacks)
            report.error = "\n".join(reasons) if reasons else str(error)

    def _inspect(
        self,
        environment: RehearsalEnvironment,
        *,
        tools: ClusterTools,
        report: Report,
        progress: Progress,
    ) -> None:
        with progress.step("Waiting for the nodes"):
            wait_for_nodes(self.config, clients=environment.clients)
        report.cluster = cluster_report(environment.clients, name=self.config.cluster.name)
        report.release = release_report(tools, config=self.config)
        with progress.step("Verifying"):
            for check in verify(
                self.config, tools=tools, clients=environment.clients, outputs=report.outputs
            ):
                report.verify.append(check)
                progress.say(f"  {'ok  ' if check.ok else 'FAIL'} {check.check}")

    def _wait(
        self, tools: ClusterTools, *, environment: RehearsalEnvironment, progress: Progress
    ) -> None:
        progress.show("\nEverything is up. In another terminal:")
        for name, value in environment.aws.environment().items():
            progress.show(f"  export {name}={value}")
        progress.show(f"  export KUBECONFIG={tools.kubeconfig}")
        progress.show(f"  {tools.binaries.kubectl} get nodes")
        progress.show("Press Ctrl-C to take it down.\n")
        try:
            signal.pause()
        except KeyboardInterrupt:
            progress.show()

    def _take_down(
        self,
        cli: CdkCli,
        *,
        environment: RehearsalEnvironment,
        report: Report,
        progress: Progress,
    ) -> None:
        for name in allow_termination(environment.clients, self._stacks):
            progress.say(f"Lifting the termination protection of {name}, as its owner would")
        with progress.step("cdk destroy --all"):
            cli.destroy(on_line=lambda _line: None)
        kept = retained(environment.clients)
        for resource in kept:
            progress.say(f"  kept, as on AWS: {resource}")
        left = forgotten(environment, stacks=self._stacks)
        if left and report.error is None:
            report.error = "left behind by cdk destroy: " + ", ".join(left)
