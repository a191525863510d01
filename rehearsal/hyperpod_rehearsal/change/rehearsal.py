"""Rehearses a change: the archived state, the deployment, and the same with a failure."""

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import boto3

from hyperpod_cdk import load_config
from hyperpod_cdk.effects.effect import properties_of
from hyperpod_cdk.schema.errors import ConfigError
from hyperpod_cli.aws.account import Environment
from hyperpod_cli.aws.assembly import Address, stacks_in
from hyperpod_cli.aws.stack_events import StackEvent
from hyperpod_cli.aws.stacks import Deployed, deployed
from hyperpod_cli.inspect.archive.archive import Archive
from hyperpod_cli.inspect.archive.deployment import unsettled
from hyperpod_cli.inspect.permissions.missing import MissingPermission, missing
from hyperpod_cli.inspect.permissions.policies import policies_of
from hyperpod_cli.operate.clusters import ClusterNode
from hyperpod_cli.plan.differences import IncomparableError
from hyperpod_cli.plan.plan import Plan, plan_of
from hyperpod_cli.plan.refusals import refused_stacks
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_emulator.aws.settings import FailingStep
from hyperpod_rehearsal.cdk_cli import CdkCliProcess
from hyperpod_rehearsal.change.assembly import ArchivedVersion, copied, hide_in, named_in
from hyperpod_rehearsal.change.duration import minutes
from hyperpod_rehearsal.change.nodes import ending, managed, set_counts, settled
from hyperpod_rehearsal.change.outcome import ResourceChange, Snapshot, changes, snapshot, steps
from hyperpod_rehearsal.change.prediction import Prediction, Rollback
from hyperpod_rehearsal.environment import rehearsal_environment
from hyperpod_rehearsal.progress import Progress
from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.stand_in_chart import STAND_IN, ChartChoice, choose_chart

# What CloudFormation says of a rule of a template that does not hold.
_RULE = re.compile(r"rule \S+ failed: (.+)")


class ChangeStage(Stage):
    """Leaves out CDK's validation of templates, which `diff` and `deploy` do."""

    def _synthesize(self) -> None:
        self._cli.synth(config=self.current, validate=False, on_line=self._say_warning)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangeRehearsal:
    """What is deployed, the changed configuration, and how that is rehearsed.

    Attributes:
        policies: Policies of who deploys. Default: they are not looked at.
        fails: Whether a failure of the second-last step is rehearsed, too.
        assembly: What was synthesized of the configuration. Default: it is synthesized.
        cdk: The CDK CLI. Default: one for each deployment.
        stage_type: How the stage synthesizes.
    """

    archive: Archive
    config_path: Path
    work_directory: Path
    progress: Progress
    policies: Sequence[Mapping[str, Any]] = ()
    fails: bool = True
    assembly: Path | None = None
    cdk: CdkCliProcess | None = None
    stage_type: type[Stage] = ChangeStage

    def run(self) -> Prediction:
        """Rehearse the change; return what it would do.

        Raises:
            AppRefusedError: The app refused the configuration.
            LocalAwsError: The local AWS did not start.
            OpsError: The local AWS cannot be brought into the archive's state.
        """
        begun = time.monotonic()
        manifest = self.archive.manifest
        prediction = Prediction(
            deployment=manifest.deployment,
            place=f"{manifest.account}/{manifest.region}",
            written=manifest.written,
            digest=manifest.digest,
            notes=[*self._notes()],
            error="\n".join(self._refusals()),
        )
        if not prediction.error:
            done = self._deploy(prediction)
            if self.fails and not prediction.error and done:
                prediction.rollback = self._roll_back(done)
        prediction.seconds = round(time.monotonic() - begun, 1)
        return prediction

    def _notes(self) -> Iterator[str]:
        for place in self.archive.deployment.hidden:
            yield f"taken as unchanged, because it looks like a secret: {place}"
        for what in self.archive.deployment.unread:
            yield f"not in the archive: {what}"
        for what, state in unsettled(self.archive.deployment):
            yield f"{what} is {state} in the archive, and works here"

    def _stand_ins(self, stage: Stage) -> Iterator[str]:
        """Yield what is not as deployed: the official chart, where the stand-in is deployed."""
        deployed = json.dumps([*self.archive.templates.values()])
        digests = [
            properties.get("ChartDigest")
            for stack in stacks_in(stage.assembly)
            for _, properties in properties_of(stack.template)
            if properties.get("Release") == stage.config.helm.release
        ]
        if stage.chart.path == STAND_IN and any(str(digest) not in deployed for digest in digests):
            yield (
                "the stand-in takes the place of the chart that is deployed, so its release "
                "changes; run `hyperpod-cdk charts` first"
            )

    def _absent(self, stage: Stage) -> Iterator[str]:
        version = ArchivedVersion(archive=self.archive, config=self.config_path)
        for stack, logical_id in version.absent(stage.assembly):
            yield (
                f"{stack}/{logical_id}: the archive lacks its files, so it is here as the "
                "configuration has it, and counts as unchanged"
            )

    def _refusals(self) -> Iterator[str]:
        """Yield why CloudFormation would take no update at all."""
        stacks = {
            stack.name: Deployed(status=stack.status, template={})
            for stack in self.archive.deployment.stacks
        }
        again = f"hyperpod-cdk deploy {self.config_path}"
        yield from refused_stacks(stacks, region=self.archive.manifest.region, again=again)

    def _deploy(self, prediction: Prediction) -> list[ResourceChange]:
        """Rehearse the deployment and note what it does; return its steps."""
        with self._replayed() as stage:
            prediction.notes += [*self._stand_ins(stage), *self._absent(stage)]
            prediction.notes += self._set_counts(stage)
            prediction.missing = self._missing(stage)
            prediction.error = stage.refusal()
            if prediction.error:
                return []
            try:
                plan = self._plan(stage)
            except ConfigError as error:
                prediction.error = str(error)
                return []
            prediction.planned = [plan.unknown] if plan.unknown else [*plan.lines()]
            prediction.plan = plan.as_json(self.config_path)
            attempt = _Attempt.of(stage, archive=self.archive)
            prediction.error = reason(attempt.error)
            prediction.changes = attempt.changes
            prediction.nodes = ending(attempt.nodes, attempt.nodes_after, archive=self.archive)
            if attempt.changes:
                changed = [Address(change.stack, change.logical_id) for change in attempt.changes]
                prediction.minutes = minutes(stage.assembly, changed)
            return steps(attempt.changes, events=attempt.events)

    def _set_counts(self, stage: Stage) -> list[str]:
        local = stage.environment
        return [*set_counts(local.clients, local.kubernetes, archive=self.archive)]

    def _plan(self, stage: Stage) -> Plan:
        """Return what `deploy` says before, or refuse what it refuses."""
        clients, stacks = stage.environment.clients, stacks_in(stage.assembly)
        former = {stack.name: deployed(clients("cloudformation"), stack.name) for stack in stacks}
        try:
            plan = plan_of(
                stacks,
                former=former,
                config=stage.config,
                path=self.config_path,
                client=clients,
                region=self.archive.manifest.region,
            )
        except IncomparableError as error:
            return Plan(stacks=stacks, unknown=f"What changes is not known: {error}")
        return replace(plan, staying=sorted(self.archive.templates.keys() - {*stage.stacks}))

    def _missing(self, stage: Stage) -> list[MissingPermission]:
        manifest = self.archive.manifest
        partition = boto3.Session().get_partition_for_region(manifest.region)
        place = Environment(partition=partition, region=manifest.region, account=manifest.account)
        needed = policies_of(stage.assembly, deployment=manifest.deployment, environment=place)
        lacking: list[MissingPermission] = []
        deployment = self.archive.deployment
        for who, given in (
            ("CloudFormation", deployment.cloudformation),
            ("the boundary of CloudFormation's role", deployment.boundary),
        ):
            if given:
                lacking += missing(needed.cloudformation, given.values(), who=who)
        if self.policies:
            lacking += missing(needed.deployer, self.policies, who="deployer")
        return lacking

    def _roll_back(self, done: Sequence[ResourceChange]) -> Rollback:
        """Rehearse it again; the second-last step fails, or the only one."""
        step = done[-2:][0]
        self.progress.say(f"Once more, and {step.stack}: {step.name} fails")
        with self._replayed(is_again=True) as stage:
            self._set_counts(stage)
            step_that_fails = FailingStep(stack=step.stack, logical_id=step.logical_id)
            stage.environment.aws.tell(step_that_fails)
            attempt = _Attempt.of(stage, archive=self.archive)
            former = {node.id for node in attempt.nodes}
            return Rollback(
                step=step,
                is_only=len(done) == 1,
                statuses={
                    name: status
                    for name, status in attempt.after.statuses.items()
                    if "ROLLBACK" in status or "FAILED" in status
                },
                changes=attempt.changes,
                ended=len(former - {node.id for node in attempt.nodes_after}),
                nodes=len(attempt.nodes_after),
            )

    @contextmanager
    def _replayed(self, *, is_again: bool = False) -> Iterator[Stage]:
        """Yield a stage on which what is deployed is, with the changed configuration in force.

        The second time, the cloud assemblies of the first are taken.
        """
        archive, config = self.archive, load_config(self.config_path)
        chart = choose_chart(config)
        if self.assembly is not None:
            chart = ChartChoice(path=self.assembly, description=f"the chart of {self.assembly}")
        control_plane = archive.deployment.control_plane
        served = {"name": None, "version": config.eks.version} | {**(control_plane or {})}
        self.work_directory.mkdir(parents=True, exist_ok=True)
        self.progress.say("Starting the local AWS ...")
        with rehearsal_environment(
            account=archive.manifest.account,
            region=archive.manifest.region,
            kubernetes_version=str(served["version"]),
            eks_cluster_name=served["name"],
            log_file=self.work_directory / "local-aws.log",
            cdk=self.cdk,
        ) as environment:
            stage = self.stage_type(
                environment=environment,
                config_path=self.config_path,
                config=config,
                chart=chart,
                work_directory=self.work_directory,
                progress=self.progress,
                attempts=[],
            )
            if self.assembly is not None and not is_again:
                copied(self.assembly, to=stage.assembly)
            if self.assembly is not None or is_again:
                stage.take_synthesized()
            stage.bootstrap()
            if not is_again:
                hide_in(stage.assembly)
            for resource in named_in(archive.templates.values()):
                resource.make(environment.clients)
            stage.change_version(ArchivedVersion(archive=archive, config=self.config_path))
            self.progress.say("What is deployed, as the archive has it:")
            if error := stage.deploy():
                raise OpsError(
                    f"What is deployed cannot be rehearsed: {error.splitlines()[0]} Its logs are "
                    f"in {self.work_directory}"
                )
            stage.restore()
            yield stage


@dataclass(frozen=True, kw_only=True, slots=True)
class _Attempt:
    """A deployment, and what was there before and after it."""

    before: Snapshot
    after: Snapshot
    nodes: list[ClusterNode]
    nodes_after: list[ClusterNode]
    events: Mapping[str, Sequence[StackEvent]]
    error: str

    @classmethod
    def of(cls, stage: Stage, *, archive: Archive) -> "_Attempt":
        """Deploy what is in force on a stage."""
        clients, there = stage.environment.clients, archive.deployment.cluster
        cluster = stage.config.cluster.name if there is None else str(there["ClusterName"])
        stacks = [*dict.fromkeys([*archive.templates, *stage.stacks])]
        kubernetes = stage.environment.kubernetes
        nodes = [*settled(clients, cluster), *managed(kubernetes)]
        before = snapshot(clients, stacks)
        stage.progress.say("The changed configuration:")
        stage.attempts = []
        error = stage.deploy()
        nodes_after = [*settled(clients, cluster), *managed(kubernetes)]
        return cls(
            before=before,
            after=snapshot(clients, stacks),
            nodes=nodes,
            nodes_after=nodes_after,
            events=stage.attempts[0].events,
            error=error or "",
        )

    @property
    def changes(self) -> list[ResourceChange]:
        return changes(self.before, self.after, events=self.events)


def reason(error: str) -> str:
    """Return why a deployment failed, without the rest of what the CDK CLI printed."""
    rules = dict.fromkeys(_RULE.findall(error))
    return "\n".join(rule.strip() for rule in rules) or error
