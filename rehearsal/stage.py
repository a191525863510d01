"""A deployment that a rehearsal acts on: configure, deploy, look, destroy."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from hyperpod_cdk import Config, load_config
from hyperpod_cdk.config.stack_names import StackKind, stack_name, stack_names
from rehearsal.cdk_cli import CdkCli, CdkError
from rehearsal.chart_choice import ChartChoice
from rehearsal.deployer import Deployer
from rehearsal.environment import RehearsalEnvironment
from rehearsal.progress import Progress
from rehearsal.releases import Release
from rehearsal.report import INTERRUPTED, StackReport
from rehearsal.stand_ins import stand_ins
from rehearsal.verification.commands import ClusterTools
from rehearsal.verification.inspection import (
    allow_deletion,
    allow_termination,
    cluster_tools,
    delete_file_systems,
    stack_outputs,
    stack_reports,
)
from scripts.deployment_report.content import Attempt
from scripts.stack_operations.assembly import stacks_in
from scripts.stack_operations.deployed import deployed
from scripts.stack_operations.failed_creations import FAILED_CREATIONS, lift_protection
from scripts.stack_operations.operation import Operation
from scripts.stack_operations.report import failure_lines
from scripts.stack_operations.terminal import followed

_REPOSITORY = Path(__file__).resolve().parent.parent
_SCRIPTS = _REPOSITORY / "lifecycle"
# What CDK's report of a synthesis ends a warning with.
_KIND_OF_FINDING = " (Annotation)"


@dataclass(kw_only=True, slots=True)
class Stage:
    """One deployment on a running rehearsal environment.

    Attributes:
        environment: What stands in for AWS.
        config_path: File of the configuration to rehearse.
        config: The configuration in force; `change` replaces it.
        chart: Chart of the HyperPod dependencies.
        work_directory: Gets the cloud assembly, changed configurations and logs.
        progress: Prints what is done.
        deployer: Who deploys, with the least rights.
        express: Whether deployments are in CloudFormation's express mode.
        attempts: Gets each deployment, for a report. Default: none is recorded.
    """

    environment: RehearsalEnvironment
    config_path: Path
    config: Config
    chart: ChartChoice
    work_directory: Path
    progress: Progress
    express: bool = False
    attempts: list[Attempt] | None = None
    _current: Path = field(init=False)
    _scripts: Path = field(init=False, default=_SCRIPTS)
    _script_changes: int = field(init=False, default=0)
    _release: Path | None = field(init=False, default=None)
    _synthesized: set[Path] = field(init=False, default_factory=set)
    _deployed: Path | None = field(init=False, default=None)
    deployer: Deployer = field(init=False)

    def __post_init__(self) -> None:
        """Start with the configuration as it is."""
        self._current = self.config_path
        self.deployer = Deployer(
            deployment=self.config.name,
            clients=self.environment.clients,
            region=self.environment.region,
            account=self.environment.aws.account,
        )

    @property
    def tools(self) -> ClusterTools:
        """Kubectl and helm with access to the cluster."""
        return cluster_tools(self.environment, directory=self.work_directory)

    @property
    def stacks(self) -> list[str]:
        """Names of the stacks, in the order in which they are shown."""
        return [*stack_names(self.config).values()]

    def stack(self, kind: StackKind) -> str:
        """Return the name of a stack."""
        return stack_name(self.config, kind)

    def bootstrap(self) -> None:
        """Do what an account needs once for CDK, and make what the configuration names of it."""
        self._synth()
        policies = self.deployer.allow(self._assembly, bootstrapped=False)
        with self.progress.step("cdk bootstrap"):
            self._cli_of(self.environment.aws.environment()).bootstrap(
                region=self.environment.region, policies=policies
            )
        for stand_in in stand_ins(self.config):
            stand_in.make(self.environment.clients)
            self.progress.say(f"  created, because the configuration names it: {stand_in}")

    def change(self, edit: Callable[[dict[str, Any]], None]) -> None:
        """Put a changed copy of the original configuration in force.

        Raises:
            ConfigError: The change makes it invalid.
        """
        document = yaml.safe_load(self.config_path.read_text(encoding="utf-8"))
        edit(document)
        self._release = None
        text = yaml.safe_dump(document, sort_keys=False)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        self._current = self.work_directory / f"changed-{digest}.yaml"
        self._current.write_text(text, encoding="utf-8")
        self.config = load_config(self._current)

    def change_to(self, path: Path) -> None:
        """Put another file in force: a configuration of the same name and region."""
        self._release = None
        self._current = path
        self.config = load_config(path)

    def change_scripts(self, edit: Callable[[Path], None]) -> None:
        """Put a changed copy of the lifecycle scripts in force, as if their folder was edited."""
        self._script_changes += 1
        self._scripts = self.work_directory / f"lifecycle-{self._script_changes}"
        shutil.rmtree(self._scripts, ignore_errors=True)  # of a rehearsal before
        shutil.copytree(_SCRIPTS, self._scripts)
        edit(self._scripts)

    def change_version(self, release: Release) -> None:
        """Put what a former release deploys in force, until the configuration changes."""
        self._synth()
        directory = self.work_directory / f"cdk.out-{release.version}"
        release.restore(directory, like=self._assembly)
        self.deployer.allow(directory, bootstrapped=True)
        self._synthesized.add(directory)
        self._release = directory
        self.config = load_config(release.config)

    def restore(self) -> None:
        """Put the original configuration and lifecycle scripts in force again."""
        self._release = None
        self._scripts = _SCRIPTS
        self._current = self.config_path
        self.config = load_config(self.config_path)

    def deploy_first(self) -> str | None:
        """Deploy, unless that is what was deployed last; return what `deploy` returns."""
        return None if self._deployed == self._assembly else self.deploy()

    def deploy(self, *, express: bool | None = None) -> str | None:
        """Deploy all stacks; return the reason that a user would read, None when all went well.

        Args:
            express: Whether in express mode. Default: as the stage's deployments are.
        """
        express = self.express if express is None else express
        self._synth()
        self._deployed = None
        operation = self._operation()

        def on_line(line: str) -> None:
            # The CLI marks a stack that is done, and one that failed.
            if line.lstrip().startswith(("✅", "❌")):
                self.progress.say(f"  {line.strip()}")

        self._lift_protection()
        try:
            mode = " --express --rollback" if express else ""
            with self.progress.step(f"cdk deploy --all --concurrency 3{mode}"):
                self._cli.deploy(express=express, on_line=on_line)
        except CdkError as error:
            told = self._failure(operation, again="make deploy") or str(error)
            self._record(operation, told=told.splitlines())
            return told
        except KeyboardInterrupt:
            self._record(operation, told=[INTERRUPTED])
            raise
        self._record(operation)
        self._deployed = self._assembly
        return None

    def _record(self, operation: Operation, *, told: Sequence[str] = ()) -> None:
        if self.attempts is None:
            return
        operation.read()
        self.attempts.append(
            Attempt(
                command=f"make deploy CONFIG={self._current}",
                assembly=self._assembly,
                events=operation.events,
                told=told,
            )
        )

    @property
    def last_lines(self) -> str:
        """The last lines that the CLI printed when it deployed."""
        return self._cli.last_lines("deploy")

    def destroy(self, *kinds: StackKind) -> str | None:
        """Destroy stacks by kind (`hyperpod`), all when none is named; return what went wrong.

        A file system that its stack retains is deleted in between: its subnet could not go before.
        """
        self._synth()
        self._deployed = None
        if not kinds:
            for name in allow_termination(self.environment.clients, self.stacks):
                self.progress.say(
                    f"Lifting the termination protection of {name}, as its owner would"
                )
            cluster = self.config.eks_cluster_name
            if allow_deletion(self.environment.clients, cluster):
                self.progress.say(
                    f"Lifting the deletion protection of {cluster}, as its owner would"
                )
            if self.config.storage is not None:
                problem = self.destroy("storage")
                if problem is not None:
                    return problem
                kept = self.config.storage.existing_ids
                for identifier in delete_file_systems(self.environment.clients, kept=kept):
                    self.progress.say(
                        f"  kept, as on AWS: FSx file system {identifier}. Deleted now, "
                        "as its owner would: it holds the platform's subnet"
                    )
        names = [self.stack(kind) for kind in kinds]
        operation = self._operation()
        try:
            with self.progress.step(f"cdk destroy {' '.join(names) or '--all'}"):
                self._cli.destroy(*names)
        except CdkError as error:
            return self._failure(operation, again="make destroy") or str(error)
        return None

    def _lift_protection(self) -> None:
        """Lift the protection of stacks whose creation failed, as `make deploy` does."""
        client = self.deployer.client("cloudformation")
        failed = [stack.name for stack in self.reports() if stack.status in FAILED_CREATIONS]
        former = {name: deployed(client, name) for name in failed}
        region = self.environment.region
        for line in lift_protection(client, former, region=region, again="make deploy"):
            self.progress.say(line)

    def _operation(self) -> Operation:
        """Return what is read of the stacks from now on, with the rights of whoever deploys."""
        operation = Operation(
            client=self.deployer.client("cloudformation"),
            stacks=followed(stacks_in(self._assembly)),
        )
        operation.begin()
        return operation

    def _failure(self, operation: Operation, *, again: str) -> str:
        """Return what `make` would say of a failed operation; empty if no stack says why."""
        operation.read()
        return "\n".join(
            failure_lines(
                operation.events_with_nested(),
                region=self.environment.region,
                again=f"{again} CONFIG={self._current}",
                paths={stack.name: stack.paths for stack in operation.stacks},
            )
        )

    def look(
        self, module: str, *options: str, credentials: Mapping[str, str] | None = None
    ) -> tuple[int, str]:
        """Run what `make` runs before CloudFormation; return exit code and output.

        Args:
            module: The command's module, such as `scripts.account`.
            options: Its options, but for the configuration.
            credentials: Of whoever runs it. Default: the deployer's.
        """
        done = subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", module, "--config", str(self._current), *options],
            cwd=_REPOSITORY,
            env={
                **self.environment.aws.environment(),
                **(self.deployer.environment() if credentials is None else credentials),
                "PATH": os.environ.get("PATH", os.defpath),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def reports(self) -> list[StackReport]:
        """Return status and duration of each stack that exists."""
        return stack_reports(self.environment.clients, self.stacks)

    def status(self, kind: StackKind) -> str | None:
        """Return the status of a stack by its kind (`hyperpod`); None when it does not exist."""
        name = self.stack(kind)
        return next((stack.status for stack in self.reports() if stack.name == name), None)

    def outputs(self) -> dict[str, dict[str, str]]:
        """Return the outputs of each stack that exists."""
        return stack_outputs(self.environment.clients, self.stacks)

    @property
    def _cli(self) -> CdkCli:
        return self._cli_of(self.deployer.environment())

    def _cli_of(self, credentials: Mapping[str, str]) -> CdkCli:
        return CdkCli(
            process=self.environment.cdk,
            account=self.environment.aws.account,
            credentials={**self.environment.aws.environment(), **credentials},
            assembly=self._assembly,
            work_directory=self.work_directory,
            chart=self.chart.path,
            scripts=self._scripts,
        )

    @property
    def _assembly(self) -> Path:
        """Cloud assembly of what is in force; each change has its own."""
        if self._release is not None:
            return self._release
        changed = f"cdk.out-{self._current.stem}-{self._scripts.name}"
        return self.work_directory / ("cdk.out" if self._is_original else changed)

    @property
    def _is_original(self) -> bool:
        return (self._current, self._scripts) == (self.config_path, _SCRIPTS)

    def _synth(self) -> None:
        if self._assembly in self._synthesized:
            return
        with self.progress.step(f"Synthesizing {self._current} with {self.chart.description}"):
            self._synthesize()
        if self._synthesized:
            self.deployer.allow(self._assembly, bootstrapped=True)
        self._synthesized.add(self._assembly)

    def _synthesize(self) -> None:
        # A scenario's change is not what the user is about to deploy.
        validate = self._is_original
        self._cli.synth(config=self._current, validate=validate, on_line=self._say_warning)

    def _say_warning(self, line: str) -> None:
        if line.startswith("WARNING"):
            self.progress.say(f"  {line.removesuffix(_KIND_OF_FINDING)}")
