"""A deployment that a rehearsal acts on: configure, deploy, look, destroy."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import yaml

from hyperpod_cdk import Config, load_config
from hyperpod_cli.aws.assembly import stacks_in
from hyperpod_cli.aws.cdk_cli import MODULE
from hyperpod_cli.aws.stacks import deployed, described_stack
from hyperpod_cli.inspect.report.page import Attempt
from hyperpod_cli.operate.clusters import ClusterNode
from hyperpod_cli.stack_progress.failures import failure_lines
from hyperpod_cli.stack_progress.operation import Operation
from hyperpod_cli.stack_progress.terminal import FAILED_CREATIONS, followed, lift_protection
from hyperpod_rehearsal.cdk_cli import CdkCli, CdkError
from hyperpod_rehearsal.deployer import Deployer
from hyperpod_rehearsal.environment import RehearsalEnvironment
from hyperpod_rehearsal.existing_resources import existing_resources
from hyperpod_rehearsal.owner import (
    allow_deletion,
    allow_termination,
    delete_databases,
    delete_file_systems,
)
from hyperpod_rehearsal.progress import Progress
from hyperpod_rehearsal.report import INTERRUPTED, StackReport
from hyperpod_rehearsal.stand_in_chart import ChartChoice
from hyperpod_rehearsal.training import TrainingReport
from hyperpod_rehearsal.verification import (
    ClusterTools,
    cluster_nodes,
    cluster_tools,
    stack_outputs,
    stack_reports,
)
from hyperpod_stacks.table import STACKS, StackKind, stack_name, stack_names

_PAUSE_SECONDS = 0.25
# What CDK's report of a synthesis ends a warning with.
_KIND_OF_FINDING = " (Annotation)"


class Version(Protocol):
    """What was deployed before, such as a former release."""

    @property
    def version(self) -> str:
        """Its name."""
        ...

    @property
    def config(self) -> Path:
        """File of its configuration."""
        ...

    def restore(self, assembly: Path, *, like: Path) -> None:
        """Write its cloud assembly, with what packages provide from one of today."""
        ...


@dataclass(kw_only=True, slots=True)
class Stage:
    """One deployment on a running rehearsal environment, of a configuration that can be changed.

    What is in force are the configuration, its file `current`, the scripts, and the assembly of a
    former release, if any. The attempts, if wanted, get each deployment for a report; `training`,
    how a job went on after a fault, if a scenario had one.
    """

    config_path: Path
    config: Config
    work_directory: Path
    environment: RehearsalEnvironment
    chart: ChartChoice
    progress: Progress
    express: bool = False
    missing: Sequence[str] = ()
    attempts: list[Attempt] | None = None
    current: Path = field(init=False)
    scripts: Path = field(init=False)
    release: Path | None = field(init=False, default=None)
    deployer: Deployer = field(init=False)
    training: TrainingReport | None = field(init=False, default=None)
    _script_changes: int = field(init=False, default=0)
    _synthesized: set[Path] = field(init=False, default_factory=set)
    _deployed: Path | None = field(init=False, default=None)
    _highlighted: set[str] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        """Start with the configuration as it is."""
        self.current = self.config_path
        self.scripts = self._original_scripts
        self.deployer = Deployer(
            deployment=self.config.name,
            clients=self.environment.clients,
            region=self.environment.region,
            account=self.environment.aws.account,
        )

    def change(self, edit: Callable[[dict[str, Any]], None]) -> None:
        """Put a changed copy of the original configuration in force.

        Raises:
            ConfigError: The change makes it invalid.
        """
        document = yaml.safe_load(self.config_path.read_text(encoding="utf-8"))
        edit(document)
        text = yaml.safe_dump(document, sort_keys=False)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        path = self.work_directory / f"changed-{digest}.yaml"
        path.write_text(text, encoding="utf-8")
        self.change_to(path)

    def change_to(self, path: Path) -> None:
        """Put another file in force: a configuration of the same name and region."""
        self.release = None
        self.current = path
        self.config = load_config(path)

    def change_scripts(self, edit: Callable[[Path], None]) -> None:
        """Put a changed copy of the lifecycle scripts in force, as if their folder was edited."""
        self._script_changes += 1
        self.scripts = self.work_directory / f"lifecycle-{self._script_changes}"
        shutil.rmtree(self.scripts, ignore_errors=True)  # of a rehearsal before
        shutil.copytree(self._original_scripts, self.scripts)
        edit(self.scripts)

    def restore(self) -> None:
        """Put the original configuration and lifecycle scripts in force again."""
        self.scripts = self._original_scripts
        self.change_to(self.config_path)

    @property
    def assembly(self) -> Path:
        """Cloud assembly of what is in force; each change has its own."""
        if self.release is not None:
            return self.release
        changed = f"cdk.out-{self.current.stem}-{self.scripts.name}"
        return self.work_directory / ("cdk.out" if self.is_original else changed)

    @property
    def is_original(self) -> bool:
        """Whether neither the configuration nor the scripts are changed."""
        return (self.current, self.scripts) == (self.config_path, self._original_scripts)

    @property
    def _original_scripts(self) -> Path:
        return self.config.project_scripts.directory

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
        policies = self.deployer.allow(self.assembly, bootstrapped=False)
        with self.progress.step("cdk bootstrap"):
            self._cli_of(self.environment.aws.environment()).bootstrap(
                region=self.environment.region, policies=policies
            )
        for resource in existing_resources(self.config, missing=self.missing):
            resource.make(self.environment.clients)
            self.progress.say(f"  created, because the configuration names it: {resource}")

    def take_synthesized(self) -> None:
        """Take the cloud assembly that is there already for that of what is in force."""
        self._synthesized.add(self.assembly)

    def change_version(self, release: Version) -> None:
        """Put what was deployed before in force, until the configuration changes."""
        self._synth()
        directory = self.work_directory / f"cdk.out-{release.version}"
        release.restore(directory, like=self.assembly)
        self.deployer.allow(directory, bootstrapped=True)
        self._synthesized.add(directory)
        self.release = directory
        self.config = load_config(release.config)

    def deploy_first(self) -> str | None:
        """Deploy, unless that is what was deployed last; return what `deploy` returns."""
        return None if self._deployed == self.assembly else self.deploy()

    def deploy(self, *, express: bool | None = None) -> str | None:
        """Deploy all stacks; return the reason that a user would read, None when all went well.

        In express mode or not, as the stage's deployments are by default.
        """
        express = self.express if express is None else express
        self._synth()
        self._deployed = None
        operation = self._operation()

        def on_line(line: str) -> None:
            # The CLI marks a stack that is done, and one that failed.
            if line.lstrip().startswith(("✅", "❌")):
                self.progress.say(f"  {line.strip()}")
                self._highlight(line.split()[1])

        self._lift_protection()
        try:
            mode = " --express --rollback" if express else ""
            with self.progress.step(f"cdk deploy --all --concurrency 3{mode}"):
                self._cli.deploy(express=express, on_line=on_line)
        except CdkError as error:
            problem = self._failure(operation, again="hyperpod-cdk deploy") or str(error)
            self._record(operation, messages=problem.splitlines())
            return problem
        except KeyboardInterrupt:
            self._record(operation, messages=[INTERRUPTED])
            raise
        self._record(operation)
        self._deployed = self.assembly
        return None

    def _highlight(self, name: str) -> None:
        """Print how the first deployment of a stack ended."""
        if name not in self._highlighted:
            self._highlighted.add(name)
            for stack in stack_reports(self.environment.clients, [name]):
                self.progress.highlight(str(stack))

    def _record(self, operation: Operation, *, messages: Sequence[str] = ()) -> None:
        if self.attempts is None:
            return
        operation.read()
        self.attempts.append(
            Attempt(
                command=f"hyperpod-cdk deploy {self.current}",
                events=operation.events,
                messages=messages,
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
            if "storage" in stack_names(self.config):
                problem = self.destroy("storage")
                if problem is not None:
                    return problem
            # Also those that deployments of another file have added.
            kept = () if self.config.storage is None else self.config.storage.existing_ids
            for identifier in delete_file_systems(self.environment.clients, kept=kept):
                self.progress.say(
                    f"  kept, as on AWS: FSx file system {identifier}. Deleted now, "
                    "as its owner would: it holds the platform's subnet"
                )
            for identifier in delete_databases(self.environment.clients):
                self.progress.say(
                    f"  kept, as on AWS: RDS database {identifier}. Deleted now with its "
                    "subnets, as its owner would: they hold the platform's VPC"
                )
        names = [self.stack(kind) for kind in kinds]
        operation = self._operation()
        try:
            with self.progress.step(f"cdk destroy {' '.join(names) or '--all'}"):
                self._cli.destroy(*names)
        except CdkError as error:
            return self._failure(operation, again="hyperpod-cdk destroy") or str(error)
        return None

    def settled(self, name: str) -> str:
        """Return the status of a stack once nothing is in progress."""
        client = self.environment.clients("cloudformation")
        while True:
            described = described_stack(client, name)
            status = "DELETE_COMPLETE" if described is None else str(described["StackStatus"])
            if not status.endswith("_IN_PROGRESS"):
                return status
            time.sleep(_PAUSE_SECONDS)

    def delete_added(self) -> None:
        """Delete every stack but the configuration's own platform and storage.

        Deployments of another file may have added stacks, and what those import cannot be deleted
        before them.
        """
        client = self.environment.clients("cloudformation")
        for kind in reversed([*STACKS]):
            name = self.stack(kind)
            stays = kind in ("platform", "storage") and name in self.stacks
            if not stays and described_stack(client, name) is not None:
                allow_termination(self.environment.clients, [name])
                client.delete_stack(StackName=name)
                self.settled(name)

    def _lift_protection(self) -> None:
        """Lift the protection of stacks whose creation failed, as `hyperpod-cdk deploy` does."""
        client = self.deployer.client("cloudformation")
        failed = [stack.name for stack in self.reports() if stack.status in FAILED_CREATIONS]
        former = {name: deployed(client, name) for name in failed}
        region = self.environment.region
        for line in lift_protection(client, former, region=region, again="hyperpod-cdk deploy"):
            self.progress.say(line)

    def _operation(self) -> Operation:
        """Return what is read of the stacks from now on, with the rights of the deployer."""
        operation = Operation(
            client=self.deployer.client("cloudformation"),
            stacks=followed(stacks_in(self.assembly)),
        )
        operation.begin()
        return operation

    def _failure(self, operation: Operation, *, again: str) -> str:
        """Return what the command would say of a failed operation; empty if no stack says why."""
        operation.read()
        return "\n".join(
            failure_lines(
                operation.events_with_nested(),
                region=self.environment.region,
                again=f"{again} {self.current}",
                paths={stack.name: stack.paths for stack in operation.stacks},
            )
        )

    def look(
        self, command: str, *options: str, credentials: Mapping[str, str] | None = None
    ) -> tuple[int, str]:
        """Run a command that looks before CloudFormation does; return exit code and output.

        The deployer runs it, unless there are other credentials.
        """
        done = subprocess.run(  # noqa: S603 - our own command
            [
                *MODULE,
                "hyperpod_cli",
                command,
                *("--config", str(self.current), *options),
            ],
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

    def refusal(self) -> str:
        """Return why `hyperpod-cdk deploy` would change nothing, a line for each fault, or ""."""
        code, output = self.look("account", "--for-deployment")
        lines = [line for line in output.splitlines() if not line.startswith("WARNING")]
        return "\n".join(lines).strip() if code != 0 else ""

    def reports(self) -> list[StackReport]:
        """Return status and duration of each stack that exists."""
        return stack_reports(self.environment.clients, self.stacks)

    def status(self, kind: StackKind) -> str | None:
        """Return the status of a stack by its kind (`hyperpod`); None when it does not exist."""
        state = described_stack(self.environment.clients("cloudformation"), self.stack(kind))
        return None if state is None else str(state["StackStatus"])

    def nodes(self) -> list[ClusterNode]:
        """Return the nodes of the HyperPod cluster; none without one."""
        return cluster_nodes(self.environment.clients, self.config.cluster.name)

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
            assembly=self.assembly,
            work_directory=self.work_directory,
            chart=self.chart.path,
            scripts=self.scripts,
        )

    def _synth(self) -> None:
        if self.assembly in self._synthesized:
            return
        chart = "" if self.config.control_plane is None else f" with {self.chart.description}"
        with self.progress.step(f"Synthesizing {self.current}{chart}"):
            self._synthesize()
        if self._synthesized:
            self.deployer.allow(self.assembly, bootstrapped=True)
        self._synthesized.add(self.assembly)

    def _synthesize(self) -> None:
        # A scenario's change is not what the user is about to deploy.
        validate = self.is_original
        self._cli.synth(config=self.current, validate=validate, on_line=self._say_warning)

    def _say_warning(self, line: str) -> None:
        if line.startswith("WARNING"):
            self.progress.say(f"  {line.removesuffix(_KIND_OF_FINDING)}")
