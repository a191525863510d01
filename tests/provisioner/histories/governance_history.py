"""Histories of task governance, and what must hold of it."""

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from types import SimpleNamespace
from typing import Any

from hyperpod_shared.governance import IN_FORCE, Noun, policy_name, quota_name, says
from tests.provisioner.histories.governance_service import (
    TOO_MANY,
    GovernanceConduct,
    GovernanceService,
    State,
)
from tests.provisioner.histories.invariants import Rule, Subject
from tests.provisioner.histories.kubernetes import connected
from tests.provisioner.histories.plan import Plan, Request, Template
from tests.provisioner.histories.world import Invocation, World

_CLUSTER = "ml"
_TEAMS = ("research", "product", "students")
_OTHERS = "theirs"
_QUIET_SECONDS = 1000.0


@dataclass(frozen=True, kw_only=True)
class GovernanceTemplate(Template):
    """Quotas of a template: nodes by team, and the weight of a priority."""

    nodes: tuple[tuple[str, int], ...]
    weight: int

    @property
    def quotas(self) -> list[dict[str, Any]]:
        return [
            {
                "ComputeQuotaConfig": {
                    "ComputeQuotaResources": [{"InstanceType": "ml.g5.12xlarge", "Count": nodes}],
                    "PreemptTeamTasks": "LowerPriority",
                },
                "ComputeQuotaTarget": {"TeamName": team, "FairShareWeight": 1},
            }
            for team, nodes in self.nodes
        ]

    @property
    def policy(self) -> dict[str, Any]:
        classes = [{"Name": "training", "Weight": self.weight}]
        return {"PriorityClasses": classes, "FairShare": "Enabled"}

    @property
    def things(self) -> dict[str, dict[str, Any]]:
        """All of it by name."""
        names = (quota_name(_CLUSTER, team) for team, _ in self.nodes)
        quotas = dict(zip(names, self.quotas, strict=True))
        return {policy_name(_CLUSTER): {"SchedulerConfig": self.policy}, **quotas}

    @property
    def fails(self) -> bool:
        """Whether one of the quotas fails whatever is done."""
        return any(nodes == TOO_MANY for _, nodes in self.nodes)

    @cached_property
    def properties(self) -> Mapping[str, Any]:
        return {
            "ServiceToken": "arn:aws:lambda:us-west-2:111122223333:function:framework",
            "ClusterName": "ml-eks",
            "HyperPodClusterName": _CLUSTER,
            "SchedulerConfig": json.dumps(self.policy),
            "Quotas": json.dumps(self.quotas),
        }


class GovernanceSubject(Subject):
    """Task governance of a cluster, of which a quota is somebody else's."""

    resource_type = "Custom::TaskGovernance"
    pauses = (1.0, 30.0, 150.0, 600.0)

    def __init__(self, plan: Plan, world: World) -> None:
        super().__init__(plan, world)
        self.service = service = GovernanceService(
            world=world, conduct=self.conduct, on_change=self.changes
        )
        self.services = {
            "sagemaker": service,
            "eks": SimpleNamespace(describe_cluster=service.describe_eks),
        }
        self.begun: dict[tuple[str, float], set[str]] = {}
        theirs = {
            "Name": f"{_OTHERS}-quota",
            "ComputeQuotaConfig": {"ComputeQuotaResources": []},
            "ComputeQuotaTarget": {"TeamName": "theirs"},
        }
        service.put(Noun.QUOTA, theirs)

    @staticmethod
    def templates(random: Random) -> Iterator[GovernanceTemplate]:
        """Draw quotas: teams come and go, quotas change and change back, and one fails."""
        weight = 50
        for number in range(random.choice((1, 2, 3, 3, 4))):
            nodes = {team: random.choice((1, 2)) for team in _TEAMS if random.random() < 0.7}
            nodes.setdefault(_TEAMS[0], 1)
            if number and random.random() < 0.15:
                nodes[random.choice([*nodes])] = TOO_MANY
            if random.random() < 0.3:
                weight = random.choice((50, 60))
            yield GovernanceTemplate(nodes=tuple(sorted(nodes.items())), weight=weight)

    @staticmethod
    def drawn_conduct(random: Random) -> GovernanceConduct:
        available_at = random.choice((0.0, 0.0, 0.0, 60.0, 300.0))
        race = random.choice((0.0, 0.0, 20.0, 90.0))
        gone_at = random.choice((200.0, 1000.0)) if random.random() < 0.03 else 0.0
        return GovernanceConduct(
            change_seconds=random.choice((1.0, 5.0, 40.0, 130.0)),
            delete_seconds=random.choice((1.0, 20.0, 100.0)),
            available_at=available_at,
            webhook_at=available_at + race,
            refuses_at_work=random.random() < 0.5,
            keeps_deleted=random.random() < 0.5,
            failing_deletions=random.choice((0, 0, 0, 0, 1, 3)),
            cluster_gone_at=gone_at,
        )

    def next_template(self, template: GovernanceTemplate) -> GovernanceTemplate:
        return replace(template, weight=template.weight + 1)

    def make_foreign(self) -> None:
        """Let somebody else have made the policy."""
        self.service.put(Noun.POLICY, {"Name": f"{_OTHERS}-policy", "SchedulerConfig": {}})

    def calm_down(self) -> float:
        """Let Kueue run and deletions succeed; let somebody change a quota by hand."""
        conduct = self.conduct
        conduct.available_at = conduct.webhook_at = conduct.cluster_gone_at = 0.0
        conduct.failing_deletions = 0
        drifted = quota_name(_CLUSTER, _TEAMS[0])
        self.world.after(_QUIET_SECONDS / 2, lambda: self.service.drift(drifted))
        return _QUIET_SECONDS

    def connected(self) -> AbstractContextManager[None]:
        return connected(self.service, cluster="ml-eks", namespace="kueue-system")

    def changes(self, what: str, state: State, invocation: Invocation) -> None:
        request: Request = invocation.request
        if _OTHERS in state["Name"] or "hyperpod-cdk" not in state.get("Description", ""):
            self.violated(Rule.NOT_OWNED, f"{what} of what others made")
            return
        if self.is_over(request, invocation.begun_at, what=what):
            return
        if invocation.who.endswith("on_event"):
            changed = self.begun.setdefault((invocation.who, invocation.begun_at), set())
            changed.add(f"{what} {state['Name']}")
            if len(changed) > 1:
                self.violated(Rule.NOT_ASKED, "on_event changes more than one thing")
        asked = request.type != "Delete" and state["Name"] in request.wanted.things
        if asked and what.startswith("Delete") and state["Status"] in IN_FORCE:
            self.violated(Rule.NOT_ASKED, f"{what} of what is wanted and in force", state["Name"])

    def deleted(self, request: Request) -> None:  # noqa: ARG002 - there is one cluster
        if self.service.has_cluster and self._own:
            self.violated(Rule.NOT_TRUE, "a deletion is a success, and something is there")

    def is_false(self, request: Request) -> str:
        conduct = self.conduct
        has_cause = (
            request.wanted.fails
            or not self.service.has_cluster
            or conduct.failing_deletions
            or self._has_foreign_policy
        )
        return "" if has_cause or self.lasted(request) else f"a {request.kind} fails for nothing"

    def is_hindered(self, request: Request) -> bool:
        """Say whether the hour went by over lost calls, or there is nothing left to put back."""
        return self.lasted(request) or not self.service.has_cluster

    def compare(self, invariant: Rule, request: Request, kind: str) -> None:
        wanted = request.wanted.things
        there = {state["Name"]: state for state in self._own}
        if set(wanted) != set(there):
            self.violated(invariant, f"{kind}: other objects", f"{sorted(there)}")
        for name, content in wanted.items():
            state = there.get(name)
            if state is not None and state["Status"] not in IN_FORCE:
                self.violated(invariant, f"{kind}: not in force", f"{name} {state['Status']}")
            elif state is not None and not says(state, content):
                self.violated(invariant, f"{kind}: says something else", name)

    @property
    def _own(self) -> list[State]:
        return [state for state in self.service.truth if _OTHERS not in state["Name"]]

    @property
    def _has_foreign_policy(self) -> bool:
        truth = self.service.truth
        return any(one["noun"] is Noun.POLICY and _OTHERS in one["Name"] for one in truth)
