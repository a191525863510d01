"""A life: a deployment goes through random steps, and a judge looks after each."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, partial
from io import StringIO
from pathlib import Path
from random import Random

import botocore.loaders
import botocore.session
import yaml

from hyperpod_cdk import Config, load_config
from hyperpod_cdk.checks.eks.closed_network import closed_network
from hyperpod_cdk.checks.way_out import way_out
from hyperpod_cdk.schema.errors import ConfigError
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cli.deliver.can_deploy import require_deployable
from hyperpod_cli.plan.plan import Plan, make_plan
from hyperpod_cli.plan.removal import make_removal_plan
from hyperpod_cli.plan.request import DeploymentRequest
from hyperpod_cli.stack_progress.terminal import FAILED_CREATIONS
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_emulator.aws.local_aws import ACCOUNT, aws_session
from hyperpod_emulator.aws.settings import FailingStep
from hyperpod_rehearsal.cdk_cli import CdkCliProcess
from hyperpod_rehearsal.change.outcome import changes, snapshot
from hyperpod_rehearsal.environment import rehearsal_environment
from hyperpod_rehearsal.existing_resources import (
    DEFAULT_REGION,
    existing_resources,
    named_account,
)
from hyperpod_rehearsal.kept_rehearsal import operator_credentials
from hyperpod_rehearsal.lives.edits import Document, Edit, edit_of, rows, start_of
from hyperpod_rehearsal.lives.judge import (
    left_as_said,
    not_holding,
    remains,
    unannounced,
    unsaid,
    words,
)
from hyperpod_rehearsal.lives.operator import operate
from hyperpod_rehearsal.lives.stage import LifeStage
from hyperpod_rehearsal.owner import (
    allow_deletion,
    allow_termination,
    delete_databases,
    delete_file_systems,
)
from hyperpod_rehearsal.progress import Progress
from hyperpod_rehearsal.stand_in_chart import choose_chart
from hyperpod_rehearsal.verification import retained
from hyperpod_stacks.table import STACKS, stack_name

_FAULTS, _OPERATIONS = 0.12, 0.4


class Outcome(StrEnum):
    """What came of a step."""

    DEPLOYED = "deployed"
    UNCHANGED = "nothing to deploy"
    REFUSED = "refused before anything changed"
    FAILED = "failed in the middle, as it was to"


class ViolationError(Exception):
    """What must hold after a step does not; the text has a line for each."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step: the lines that say what its edit changes, and what came of it."""

    lines: tuple[str, ...]
    outcome: Outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class LifeReport:
    """What came of a life; nothing is wrong if the violation is empty."""

    steps: Sequence[Step]
    seconds: float
    violation: str = ""

    def __str__(self) -> str:
        count = len(self.steps)
        outcomes = Counter(step.outcome for step in self.steps)
        lines = [f"{count} steps, {60 * count / self.seconds:.1f} a minute"]
        lines += [f"  {count} {outcome}" for outcome, count in outcomes.most_common()]
        return "\n".join([*lines, *([self.violation] if self.violation else [])])


@dataclass(kw_only=True, slots=True)
class Life:
    """A life of so many steps, the same each time for a seed and a configuration."""

    seed: str
    steps: int
    config_path: Path
    work_directory: Path
    progress: Progress
    cdk: CdkCliProcess | None = None
    _existing: dict[str, None] = field(init=False, default_factory=dict)
    _counts: Mapping[str, int] = field(init=False, default_factory=dict)
    _is_output_stale: bool = field(init=False, default=False)
    _left: list[str] = field(init=False, default_factory=list)

    def run(self) -> LifeReport:
        """Live; return what came of the steps, up to one after which something does not hold."""
        # The sessions of a step would read the models of services again, that of EC2 for half a
        # second.
        botocore.session.create_loader = cache(botocore.loaders.create_loader)
        shutil.rmtree(self.work_directory, ignore_errors=True)
        # Rows name files of the examples.
        shutil.copytree(asset_directory("config") / "examples", self.work_directory)
        start = start_of(
            yaml.safe_load(self.config_path.read_text("utf-8")),
            random=Random(self.seed),  # noqa: S311 - the same each time
            is_valid=self._is_valid,
        )
        path = self._written(start.document, name="start")
        config = load_config(path)
        account = named_account(config) or ACCOUNT
        with rehearsal_environment(
            account=account,
            region=config.region or DEFAULT_REGION,
            kubernetes_version=config.eks.version,
            eks_cluster_name=config.eks_cluster_name,
            log_file=self.work_directory / "local-aws.log",
            cdk=self.cdk,
        ) as environment:
            stage = LifeStage(
                environment=environment,
                config_path=path,
                config=config,
                chart=choose_chart(config),
                work_directory=self.work_directory,
                progress=self.progress,
            )
            with _environment(environment.aws.environment()):
                stage.bootstrap()
                return self._lived(stage, start=start, targets=rows(account))

    def _lived(self, stage: LifeStage, *, start: Edit, targets: list[Document]) -> LifeReport:
        steps: list[Step] = []
        begun, violation, step = self.progress.elapsed, "", 0
        former: list[Document] = []
        document, lines = start.document, start.lines
        try:
            for step in range(self.steps + 1):
                random = Random(f"{self.seed}/{step}")  # noqa: S311 - the same each time
                if step:
                    edit = edit_of(
                        document,
                        random=random,
                        former=former,
                        targets=targets,
                        is_valid=partial(self._is_valid, former=stage.config),
                    )
                    lines = edit.lines
                    changed = edit.document
                else:
                    changed = document
                self.progress.say(f"Step {step}: {'; '.join(lines) or self.config_path}")
                outcome, said = self._step(stage, changed, step=step, random=random)
                self.progress.say(f"  {outcome}{f': {said}' if said else ''}")
                steps.append(Step(lines, outcome))
                if outcome is not Outcome.REFUSED:
                    former.append(document)
                    document = changed
                if outcome is Outcome.DEPLOYED and random.random() < _OPERATIONS:
                    done, counts = operate(stage, random=random)
                    self._is_output_stale |= counts != self._counts
                    self._counts = counts
                    self.progress.say(f"  An operator {done}")
            lines = ("destroy --all",)
            self._destroy(stage)
        except ViolationError as error:
            violation = "\n".join(
                [f"VIOLATION: seed {self.seed}, step {step}:", *lines, "does not hold:", str(error)]
            )
        seconds = self.progress.elapsed - begun
        return LifeReport(steps=steps, seconds=seconds, violation=violation)

    def _step(
        self, stage: LifeStage, document: Document, *, step: int, random: Random
    ) -> tuple[Outcome, str]:
        """Deploy a configuration; return what came of it, and the first line that a user reads."""
        path, before_it = self._written(document, name=f"step-{step}"), stage.current
        counted = _counts(stage.config)
        clients = stage.environment.clients
        output = StringIO()
        try:
            with redirect_stdout(output), redirect_stderr(output):
                stage.change_to(path)
                plan = self._planned(stage)
        except (ConfigError, OpsError) as error:
            stage.change_to(before_it)
            _accept_tokens(stage)
            if not str(error).strip():
                raise ViolationError("it is refused without a word") from None
            return Outcome.REFUSED, str(error).splitlines()[0]
        if plan.unknown:
            raise ViolationError(plan.unknown)
        if not plan.changes:
            return Outcome.UNCHANGED, ""
        if plan.lacks:
            stage.deployer.allow(stage.assembly, bootstrapped=True)
        fault = _fault(plan, random=random) if step else None
        if fault is not None:
            stage.environment.aws.tell(fault)
        names = [stack_name(stage.config, kind) for kind in STACKS]
        before, nodes = snapshot(clients, names), stage.nodes()
        # Tags and protection change without the template.
        touched = {effect.stack for effect in plan.effects}
        wanted = [
            stack
            for stack in plan.stacks
            if stack.name in touched or stack.name not in plan.unchanged
        ]
        failure = stage.deploy_stacks(wanted, former=plan.former)
        if failure is not None:
            if fault is None or FailingStep.read(stage.environment.aws.directory) == fault:
                raise ViolationError(f"the deployment fails:\n{failure}")
            for stack, status in snapshot(clients, names).statuses.items():
                # The next deployment deletes what was not created.
                if status.endswith("_FAILED") and status not in FAILED_CREATIONS:
                    raise ViolationError(f"one step fails, and {stack} is {status}:\n{failure}")
            return Outcome.FAILED, failure.splitlines()[0]
        stage.environment.aws.tell(FailingStep())
        # A deployment changes the counts that its file changes, and keeps those of operators.
        asked = _counts(stage.config)
        self._counts = {
            name: self._counts.get(name, count) if counted.get(name) == count else count
            for name, count in asked.items()
        }
        done = [*changes(before, snapshot(clients, names), events=stage.events)]
        if any(change.type == "Custom::HyperPodCluster" for change in done):
            self._is_output_stale = False
        self._left += left_as_said(plan, changes=done, before=before)
        wrong = not_holding(stage, counts=self._counts, is_output_stale=self._is_output_stale)
        there = {node.id for node in stage.nodes()}
        ended = [node for node in nodes if node.id not in there]
        wrong += unannounced(plan, changes=done, ended=ended)
        if wrong:
            raise ViolationError("\n".join(wrong))
        return Outcome.DEPLOYED, ""

    def _planned(self, stage: LifeStage) -> Plan:
        """Return what `deploy` would do of what is in force; it refuses what that refuses."""
        clients, config = stage.environment.clients, stage.config
        # Who reads that nodes reach nothing does not go on.
        warnings = [*way_out(config), *(closed_network(config) if config.control_plane else ())]
        if warnings:
            raise OpsError(str(warnings[0]))
        for resource in existing_resources(config):
            if str(resource) not in self._existing:
                resource.make(clients)
                self._existing[str(resource)] = None
        _accept_tokens(stage)
        assembly = stage.synthesize()
        with _environment(stage.deployer.environment()):
            require_deployable(stage.current)
            return make_plan(DeploymentRequest(path=stage.current, templates=assembly))

    def _destroy(self, stage: LifeStage) -> None:
        self.progress.say("Destroying all")
        clients, config = stage.environment.clients, stage.config
        with _environment(operator_credentials(stage)):
            request = DeploymentRequest(path=stage.current, templates=stage.assembly)
            plan = make_removal_plan(request, everything=True)
        if plan.unknown:
            raise ViolationError(plan.unknown)
        allow_termination(clients, [stack.name for stack in plan.stacks])
        allow_deletion(clients, config.eks_cluster_name)
        platform = stack_name(config, "platform")
        last = [stack for stack in plan.stacks if stack.name == platform]
        first = [stack for stack in reversed(plan.stacks) if stack.name != platform]
        if error := stage.delete_stacks(first):
            raise ViolationError(error)
        kept = [each for each in retained(clients) if each.startswith("FSx")]
        # As the owner would: they hold the platform's subnets.
        delete_file_systems(clients, kept=words(self._existing))
        delete_databases(clients)
        if error := stage.delete_stacks(last):
            raise ViolationError(error)
        kept += retained(clients)
        wrong = [
            *unsaid(kept, plan=plan, existing=[*self._existing, *self._left]),
            *remains(stage, existing=self._existing),
        ]
        if wrong:
            raise ViolationError("\n".join(wrong))

    def _written(self, document: Document, *, name: str) -> Path:
        path = self.work_directory / f"{name}.yaml"
        path.write_text(yaml.safe_dump({**document}, sort_keys=False), "utf-8")
        return path

    def _is_valid(self, document: Document, *, former: Config | None = None) -> bool:
        """Return whether a configuration is valid, and another one than the former."""
        try:
            return load_config(self._written(document, name="drawn")) != former
        except ConfigError:
            return False


def _accept_tokens(stage: LifeStage) -> None:
    """Let the Kubernetes API take the tokens of the EKS cluster that the configuration has."""
    environment = stage.environment
    environment.kubernetes.accept_eks_tokens(
        eks_cluster_name=stage.config.eks_cluster_name,
        gateway_url=environment.aws.endpoint,
        session=aws_session(environment.aws),
    )


def _counts(config: Config) -> dict[str, int]:
    return {group.name: group.instance_count for group in config.cluster.all_groups}


def _fault(plan: Plan, *, random: Random) -> FailingStep | None:
    """Return a resource of a plan that is to fail, seldom."""
    of_stacks = sorted(
        (effect.stack, logical_id) for effect in plan.effects for logical_id in effect.resources
    )
    if not of_stacks or random.random() > _FAULTS:
        return None
    stack, logical_id = random.choice(of_stacks)
    return FailingStep(stack=stack, logical_id=logical_id)


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables of this process's environment for a while."""
    former = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in former.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
