"""Plays a history."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace

from provisioner import handler
from provisioner.framework.retry import Clock
from tests.provisioner.histories.cloudformation import Stack
from tests.provisioner.histories.dynamodb import Table
from tests.provisioner.histories.invariants import Subject, Violation, watched_log
from tests.provisioner.histories.plan import Operation, Plan
from tests.provisioner.histories.world import LONGEST_RUN_SECONDS, Row, World

_LONGEST_SECONDS = 60_000.0
os.environ.setdefault("JOURNAL_TABLE", "journal")


@dataclass(kw_only=True)
class Outcome:
    plan: Plan
    violations: list[Violation]
    rows: list[Row]
    drawn: list[tuple[int, str]] = field(default_factory=list)


def play(plan: Plan) -> Outcome:
    return _History(plan).play()


class _History:
    """One history while it happens."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.world = World(seed=plan.seed, faults=plan.faults)
        self.subject: Subject = plan.subject(plan, self.world)
        self.stack = Stack(
            world=self.world,
            resource_type=self.subject.resource_type,
            on_sent=self.subject.sent,
            on_answered=self.subject.answered,
        )

    def play(self) -> Outcome:
        if self.plan.foreign:
            self.subject.make_foreign()
        with self._services(), self.subject.connected(), watched_log(self.subject.log_line):
            try:
                self._happen()
            finally:
                self.world.close()
        return Outcome(
            plan=self.plan,
            violations=self.subject.violations,
            rows=self.world.rows,
            drawn=self.world.drawn,
        )

    def _happen(self) -> None:
        for number, operation in enumerate(self.plan.operations):
            self._let(number, operation)
        if self.plan.lasts:
            self.world.run(lambda: self.stack.waiters == 0 or self._is_over())
        if self.plan.heals and self.stack.template is not None and not self.plan.foreign:
            self._heal()
        self.subject.end(self.stack)

    def _is_over(self) -> bool:
        return self.world.elapsed > _LONGEST_SECONDS

    def _let(self, number: int, operation: Operation) -> None:
        if operation.kind == "delete" and self.stack.template is None:
            return
        for change in self.plan.by_hand:
            if change.operation == number:
                self.world.after(
                    max(0.0, operation.pause + change.after),
                    partial(self.subject.by_hand, change),
                )
        self.world.sleep(operation.pause)
        self.world.note("user", "%s %s", operation.kind, operation.template or "")
        self.stack.begin(operation)
        self.world.run(lambda: self.stack.idle or self._is_over())

    def _heal(self) -> None:
        """Deploy without faults, and see that all is as the template says."""
        self.world.calm = True
        self.world.note("user", "waits until all is quiet; no more faults")
        self.world.sleep(self.subject.calm_down())
        if not self.stack.idle or self.stack.template is None:
            return  # it took longer than any history lasts
        template = self.subject.next_template(self.stack.template)
        self.subject.heals = True
        self.world.note("user", "deploys %s", template)
        self.stack.begin(Operation(kind="deploy", template=template))
        self.world.run(lambda: self.stack.idle or self._is_over())
        request = self.stack.requests[-1]
        if request.error is None and request.wanted is template:
            self.subject.healed(request)

    @contextmanager
    def _services(self) -> Iterator[None]:
        """Let the provisioner talk to this history's services and clock."""
        clients, clock = handler.CLIENTS, handler._clock
        names = ("sagemaker", "s3", "fsx", "eks", "token_signer")
        own = {"cloudformation": self.stack, "dynamodb": Table(world=self.world)}
        services = {**dict.fromkeys(names), **self.subject.services, **own}
        world = self.world

        def history_clock(_context: object) -> Clock:
            ends = world.invocation.begun_at + LONGEST_RUN_SECONDS
            return Clock(
                now=lambda: world.now + world.faults.skew,
                sleep=world.sleep,
                remaining=lambda: max(0.0, ends - world.now),
            )

        handler.CLIENTS = SimpleNamespace(**services)  # type: ignore[assignment]
        handler._clock = history_clock  # type: ignore[assignment]
        try:
            yield
        finally:
            handler.CLIENTS, handler._clock = clients, clock
