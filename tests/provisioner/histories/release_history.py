"""Histories of a Helm release, and what must hold of it."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from hyperpod_shared.owner import Owner
from provisioner import handler
from tests.provisioner.histories.helm_store import (
    DEPLOYED,
    NAMESPACE,
    Command,
    Content,
    HelmConduct,
    HelmStore,
    StoredRevision,
)
from tests.provisioner.histories.invariants import SECRET, Rule, Subject
from tests.provisioner.histories.plan import Plan, Request, Template
from tests.provisioner.histories.world import STARTS_AT, World

_OTHER = Owner(
    stack_id="arn:aws:cloudformation:us-west-2:111122223333:stack/other/0d0d0d0d-bb22",
    logical_id="Other",
)
_QUIET_SECONDS = 1000.0
_MANY_FAULTS = 4


@dataclass(frozen=True, kw_only=True)
class ReleaseTemplate(Template):
    chart: int
    size: int
    wait_minutes: int = 0

    @property
    def content(self) -> Content:
        """What it has run."""
        return f"{self.chart}.tgz", self.size

    @cached_property
    def properties(self) -> Mapping[str, Any]:
        return {
            "ServiceToken": "arn:aws:lambda:us-west-2:111122223333:function:framework",
            "ClusterName": "ml",
            "Release": "deps",
            "Namespace": NAMESPACE,
            "ChartBucket": "assets",
            "ChartKey": f"{self.chart}.tgz",
            "ChartDigest": str(self.chart),
            "Values": json.dumps({"size": self.size, "password": SECRET}),
            "WaitForReadyMinutes": str(self.wait_minutes),
        }


class ReleaseSubject(Subject):
    """A Helm release; the store is that as it truly is."""

    resource_type = "Custom::HelmRelease"
    pauses = (1.0, 20.0, 60.0, 150.0)

    def __init__(self, plan: Plan, world: World) -> None:
        super().__init__(plan, world)
        self.store = HelmStore(world=world, conduct=self.conduct, on_change=self.changes)

    @staticmethod
    def templates(random: Random) -> Iterator[ReleaseTemplate]:
        waits = random.choice((0, 0, 0, 0, 3, 3, 10, 10, 10, 45))
        template = ReleaseTemplate(chart=1, size=1, wait_minutes=waits)
        yield template
        for number in range(random.choice((1, 1, 2, 3))):
            if random.random() < 0.8:
                template = replace(template, chart=number + 2)
            else:
                template = replace(template, size=number + 2)
            yield template

    @staticmethod
    def drawn_conduct(random: Random) -> HelmConduct:
        terminating = creating = (0.0, 0.0)
        if random.random() < 0.25:
            begin = random.choice((0.0, 100.0, 250.0, 500.0))
            terminating = (begin, begin + random.choice((60.0, 300.0, 800.0, 1500.0)))
        if random.random() < 0.08:
            begin = random.choice((0.0, 100.0, 250.0))
            creating = (begin, begin + random.choice((60.0, 300.0)))
        return HelmConduct(
            upgrade_seconds=random.choice((5.0, 20.0, 60.0, 200.0, 400.0)),
            uninstall_seconds=random.choice((5.0, 60.0, 300.0)),
            ready_seconds=random.choice((5.0, 60.0, 300.0, 1e9)),
            failing_upgrades=tuple(number for number in range(5) if random.random() < 0.1),
            terminating=terminating,
            creating=creating,
        )

    def next_template(self, template: ReleaseTemplate) -> ReleaseTemplate:
        return replace(template, size=template.size + 1)

    def make_foreign(self) -> None:
        self.store.revisions = [
            StoredRevision(
                number=1,
                status=DEPLOYED,
                description="Install complete",
                updated=STARTS_AT,
                labels=_OTHER.labels,
                content=("other.tgz", 1),
            )
        ]

    def calm_down(self) -> float:
        conduct = self.conduct
        conduct.ready_seconds = min(conduct.ready_seconds, 60.0)
        conduct.upgrade_seconds = min(conduct.upgrade_seconds, 60.0)
        return _QUIET_SECONDS

    @contextmanager
    def connected(self) -> Iterator[None]:
        store = self.store

        def connected(**_clients: object) -> SimpleNamespace:
            return SimpleNamespace(connect=store.connect)

        with patch.object(handler, "ReleaseConnection", connected):
            yield

    def changes(self, command: Command) -> None:
        request = command.invocation.request
        last = self.store.last
        if last is not None and _OTHER.owns_labels(last.labels):
            self.violated(Rule.NOT_OWNED, f"{command.name} of another stack's release")
            return
        if self.is_over(request, command.invocation.begun_at, what=command.name):
            return
        for other in self.store.at_work:
            # Of what began after this run did it may know nothing.
            if other.at < command.invocation.begun_at:
                self.violated(
                    Rule.NOT_ASKED,
                    f"{command.name} by a {request.kind} into a {other.name} that is at work",
                    f"{other.invocation.who} is at work",
                )

    def is_hindered(self, request: Request) -> bool:
        """Say whether the hour went by over lost calls: helm begins all over after each.

        A pending revision of a run that may still work is waited for a quarter of an hour.
        """
        return self.lasted(request) and request.faults >= _MANY_FAULTS

    def succeeded(self, request: Request) -> None:
        """Compare what runs with the template, and look whether it is ready."""
        super().succeeded(request)
        if request.data.get("Ready") == "yes" and not self.store.is_ready:
            self.violated(Rule.NOT_TRUE, f"{request.kind}: not ready")

    def deleted(self, request: Request) -> None:
        last = self.store.last
        owner = Owner(stack_id=request.stack_id, logical_id="Resource")
        if last is not None and owner.owns_labels(last.labels):
            self.violated(Rule.NOT_TRUE, "a deletion is a success, and the release is there")

    def compare(self, invariant: Rule, request: Request, kind: str) -> None:
        store = self.store
        template: ReleaseTemplate = request.wanted
        if store.running != template.content:
            text = f"{store.running} runs, not {template.content}"
            self.violated(invariant, f"{kind}: something else runs", text)
        elif store.last is None or store.last.status != DEPLOYED:
            self.violated(invariant, f"{kind}: the last revision is not deployed")
        elif sum(one.status == DEPLOYED for one in store.revisions) > 1:
            self.violated(invariant, f"{kind}: two revisions are deployed")
