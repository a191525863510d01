"""What a scenario is, and what every one of them ends with."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from hyperpod_cdk import Config
from hyperpod_cdk.hyperpod.node_group import NodeGroupConfig
from hyperpod_cdk.schema.section import EKS, SLURM
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.verification.nodes import wanted_nodes
from hyperpod_emulator.aws.settings import Readiness, Scarcity
from hyperpod_emulator.hyperpod import Faults
from hyperpod_emulator.kubernetes import Fault
from hyperpod_rehearsal.report import Fact
from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.verification import comes_true, running_nodes, wait_for_nodes
from hyperpod_stacks.table import StackKind

ON_EKS = {"cluster.orchestrator": EKS}
"""What a scenario needs that acts on the control plane, on Helm or on pods."""
WITH_SLURM = {"cluster.orchestrator": SLURM}
_LONGEST_SECONDS = 600.0
_PAUSE_SECONDS = 0.02
_NOT_YET = (
    'secrets is forbidden: User "arn:aws:sts::000000000000:assumed-role/provisioner/provisioner" '
    'cannot list resource "secrets" in API group "" in the namespace "kube-system"'
)


def deploy_and_cancel(stage: Stage) -> bool:
    """Deploy, cancel the platform's update as soon as it changes the scripts; return if it failed.

    The scripts are the last that it changes.
    """
    user = threading.Thread(target=_cancel, args=[stage, _script_events(stage)], daemon=True)
    user.start()
    failed = stage.deploy() is not None
    user.join(timeout=_LONGEST_SECONDS)
    return failed


def _cancel(stage: Stage, known: set[str]) -> None:
    cloudformation = stage.environment.clients("cloudformation")
    if comes_true(lambda: bool(_script_events(stage) - known), pause_seconds=_PAUSE_SECONDS):
        cloudformation.cancel_update_stack(StackName=stage.stack("platform"))


def _script_events(stage: Stage) -> set[str]:
    events = stage.environment.clients("cloudformation").describe_stack_events(
        StackName=stage.stack("platform")
    )
    return {
        event["EventId"]
        for event in events["StackEvents"]
        if event["ResourceType"] == "Custom::LifecycleScripts"
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class Scenario:
    """Something that goes wrong, or changes, and what must come of it; the decorator of what does.

    The function acts on the stage and yields each expectation as a check. Its name is that for
    `--scenario`, and its docstring what the output says.

    Attributes:
        begins: On a deployment that works (`deployed`), on one or none (`anyhow`), or as a first
            creation, without the HyperPod stack (`new`).
        needs: The values that a configuration must have for it, by key, such as
            `{"cluster.wait_for": "nodes"}`. Default: any will do.
        of_cluster: Whether it is about a HyperPod cluster.
        also_lacking: Returns what else a configuration lacks for it, such as `a group with
            deep_health_checks`; None when it has all.
        messages: What a topic is told while it is played, each as its kind and cause.
        machine_lacks: Returns what this machine lacks for it, and how to get it; None: nothing.
        play: The function.
    """

    begins: Literal["new", "anyhow", "deployed"] = "new"
    needs: Mapping[str, object] = field(default_factory=dict)
    of_cluster: bool = True
    also_lacking: Callable[[Config], str | None] = lambda _: None
    messages: tuple[str, ...] = ()
    machine_lacks: Callable[[], str | None] = lambda: None
    play: Callable[[Stage], Iterator[Fact]] = lambda _: iter(())

    def __call__(self, play: Callable[[Stage], Iterator[Fact]]) -> Scenario:
        """Return the scenario that a function plays."""
        return replace(self, play=play)

    @property
    def name(self) -> str:
        """The name for `--scenario`."""
        return self.play.__name__.replace("_", "-")

    @property
    def summary(self) -> str:
        """One sentence for the output."""
        return str(self.play.__doc__).removesuffix(".")

    def lacking(self, config: Config) -> str | None:
        """Return what a configuration lacks for it; None when it has all."""
        if self.of_cluster and not config.cluster.exists:
            return "a HyperPod cluster"
        for key, value in self.needs.items():
            section, name = key.split(".")
            if getattr(getattr(config, section), name) != value:
                return f"{key}: {json.dumps(value)}"
        return self.also_lacking(config)

    def checks(self, stage: Stage) -> Iterator[Fact]:
        """Play it; yield the checks, of the deployment that it begins on too."""
        if self.begins == "deployed":
            yield from _runs(stage, "the first deployment works", error=stage.deploy_first())
        yield from self.play(stage)

    def recover(self, stage: Stage) -> Iterator[Fact]:
        """Yield the checks that a plain deployment works again, whatever the scenario left."""
        stage.environment.hyperpod.faults = Faults()
        stage.environment.kubernetes.clear_faults()
        stage.environment.aws.tell(Readiness())
        stage.environment.aws.tell(Scarcity())
        stage.restore()
        yield from _runs(stage, "a plain deployment works afterwards", error=stage.deploy())


def no_access_yet(*, times: int) -> Fault:
    """Return the fault of an access policy that has not reached Kubernetes for some calls."""
    return Fault(
        code=403,
        reason="Forbidden",
        message=_NOT_YET,
        kind="Secret",
        verbs=frozenset({"list"}),
        times=times,
    )


def first_workers(config: Config) -> NodeGroupConfig:
    """Return the first group whose nodes run jobs."""
    return (*config.cluster.workers, *config.cluster.restricted_instance_groups)[0]


def all_or_nothing(document: dict[str, Any]) -> None:
    """Change a configuration so that the cluster gets all its nodes or none."""
    document["cluster"]["node_provisioning_mode"] = None


def grow(document: dict[str, Any], *, by: int = 2, index: int = -1) -> None:
    """Change a configuration so that a group, the last by default, has more nodes."""
    document["cluster"]["instance_groups"][index]["instance_count"] += by


def with_another_group(document: dict[str, Any]) -> None:
    """Change a configuration so that it has the last group twice."""
    groups = document["cluster"]["instance_groups"]
    groups.append({**groups[-1], "name": "another-group"})


def lacks_fixed_instance_types(config: Config) -> str | None:
    """Return what a configuration lacks for `all_or_nothing`."""
    flexible = [len(group.possible_instance_types) > 1 for group in config.cluster.all_groups]
    return "groups of one instance_type each" if any(flexible) else None


def succeeds(what: str, error: str | None) -> Fact:
    """Return the check that an action brought no error."""
    return Fact(title=what if error is None else f"{what}: {error}", ok=error is None)


def compared(check: str, found: object, *wanted: object) -> Fact:
    """Return the check that what is found is wanted; it says what there is instead."""
    return Fact(title=check if found in wanted else f"{check}, not {found}", ok=found in wanted)


def fails(stage: Stage, error: str | None, *, matching: str) -> Iterator[Fact]:
    """Yield the checks of a failed deployment of the HyperPod stack, whose error must match."""
    yield is_refused(error, matching=matching)
    yield _names_a_log_group(stage, error)
    statuses = {kind: stage.status(kind) for kind in ("platform", "storage")}
    kept = {"CREATE_COMPLETE", "UPDATE_COMPLETE", None}
    yield Fact(title="platform and storage are untouched", ok=set(statuses.values()) <= kept)


def is_refused(error: str | None, *, matching: str) -> Fact:
    """Return the check that an action brought an error that matches, as the user must read it."""
    expected = "the error says what is wrong and what to do"
    if re.search(matching, error if error is not None else "", re.DOTALL) is not None:
        return Fact(title=expected, ok=True, message=error)
    return Fact(title=f"{expected}: no {matching} in {error}", ok=False, message=error)


def _names_a_log_group(stage: Stage, error: str | None) -> Fact:
    """Return the check that the log group exists to which CDK's provider framework points."""
    named = re.search(r"^Logs: (\S+)", error if error is not None else "", re.MULTILINE)
    name = named[1] if named is not None else "none"
    groups = stage.environment.clients("logs").describe_log_groups(logGroupNamePrefix=name)
    there = [group["logGroupName"] for group in groups["logGroups"]]
    return compared("the error names a log group that exists", name, *there)


def has_status(stage: Stage, kind: StackKind, *wanted: str) -> Fact:
    """Return the check that a stack has one of the statuses wanted."""
    return compared(f"the {kind} stack is {' or '.join(wanted)}", stage.status(kind), *wanted)


def cluster_is(stage: Stage, wanted: str) -> Fact:
    """Return the check that the HyperPod cluster has the status wanted; `gone` for none."""
    describe = stage.environment.clients("sagemaker").describe_cluster
    answer = answer_of(describe, ClusterName=stage.config.cluster.name)
    return compared(
        f"the cluster is {wanted}", "gone" if answer is None else answer["ClusterStatus"], wanted
    )


def _runs(stage: Stage, title: str, *, error: str | None) -> Iterator[Fact]:
    """Yield the checks of a deployment; nobody waits for the nodes of one that has failed."""
    deployed = succeeds(title, error)
    yield deployed
    if deployed.ok:
        yield all_nodes_run(stage)


def all_nodes_run(stage: Stage) -> Fact:
    """Return the check that exactly the nodes configured run, and Kubernetes knows them."""
    clients = stage.environment.clients
    wait_for_nodes(stage.config, clients=clients)
    wanted, running = wanted_nodes(stage.config), running_nodes(stage.config, clients=clients)
    if stage.config.control_plane is None:
        number = f"{running} of" if running != wanted else "all"
        return Fact(title=f"{number} {wanted} nodes run", ok=running == wanted)
    known = len(stage.environment.kubernetes.objects("v1", "Node"))
    known -= sum(group.desired_size for group in stage.config.node_groups)
    if running == known == wanted:
        return Fact(title=f"all {wanted} nodes run, and Kubernetes knows them", ok=True)
    return Fact(title=f"{running} of {wanted} nodes run, and Kubernetes knows {known}", ok=False)
