"""Histories of a HyperPod cluster."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from tests.provisioner.histories.cluster_invariants import ClusterRules
from tests.provisioner.histories.cluster_templates import (
    CHIEF,
    NAME,
    ClusterTemplate,
    first_template,
    first_under_slurm,
    next_template,
)
from tests.provisioner.histories.clusters import Conduct
from tests.provisioner.histories.plan import ByHand, Operation, Plan
from tests.provisioner.histories.sagemaker import SageMaker
from tests.provisioner.histories.world import World
from tests.support.provisioner.fake_s3 import client_error

_OTHER_STACK = "arn:aws:cloudformation:us-west-2:111122223333:stack/other/0d0d0d0d-bb22"
_QUIET_SECONDS = 400.0
_LONG_QUIET_SECONDS = 4000.0


class ClusterSubject(ClusterRules):
    """A HyperPod cluster."""

    resource_type = "Custom::HyperPodCluster"
    pauses = (1.0, 20.0, 60.0, 150.0, 600.0)
    first_template = staticmethod(first_template)

    def __init__(self, plan: Plan, world: World) -> None:
        super().__init__(plan, world)
        self._seed, self._first = plan.seed, plan.operations[0].template
        self.sagemaker = SageMaker(world=world, conduct=self.conduct, on_change=self.changes)
        self.services = {"sagemaker": self.sagemaker, "eks": _NoEks()}

    @classmethod
    def templates(cls, random: Random) -> Iterator[ClusterTemplate]:
        templates = [cls.first_template(random)]
        yield templates[0]
        for number in range(random.choice((1, 1, 2, 2, 3))):
            templates.append(next_template(random.choice(templates[-2:]), random, number + 1))
            yield templates[-1]

    @staticmethod
    def drawn_conduct(random: Random) -> Conduct:
        def seldom(share: float) -> tuple[int, ...]:
            return tuple(number for number in range(6) if random.random() < share)

        slow = random.choice((3150.0, 4000.0)) if random.random() < 0.03 else 0.0
        return Conduct(
            create_seconds=random.uniform(40.0, 200.0),
            update_seconds=slow or random.choice((20.0, 60.0, 150.0, 300.0)),
            patch_seconds=random.choice((20.0, 60.0, 150.0, 250.0, 400.0)),
            delete_seconds=random.uniform(20.0, 100.0),
            shows_updating=random.choice((0.0, 0.0, 20.0, 90.0)),
            failing_updates=seldom(0.12),
            failing_patches=seldom(0.08),
            failing_creations=seldom(0.06),
            short_of=tuple((name, 1) for name in "abc" if random.random() < 0.04),
            refuses_tags=random.random() < 0.15,
            removes_again=random.random() < 0.5,
            bare_nodes=random.random() < 0.02,
            endless_pages=random.random() < 0.0005,
            system_updates=tuple(
                random.uniform(100.0, 1500.0) for _ in range(random.choice((0, 0, 0, 1)))
            ),
        )

    @staticmethod
    def changes_by_hand(random: Random, operations: Sequence[Operation]) -> Iterator[ByHand]:
        count = len(operations)
        for _ in range(random.choice((0, 0, 0, 1, 1, 2))):
            near = random.choice((-15.0, -5.0, 1.0, 10.0, 50.0, 120.0)) * random.uniform(0.8, 1.2)
            yield ByHand(
                operation=random.randrange(1, count) if count > 1 else 0,
                after=random.choice((near, random.uniform(-600.0, 900.0))),
                action=random.choice(
                    (
                        *("scale", "scale", "scale", "add", "add", "add"),
                        *("patch", "patch", "remove", "delete cluster"),
                    )
                ),
                group=random.choice("abcd"),
                count=random.choice((1, 2, 4, 6)),
            )

    def by_hand(self, change: ByHand) -> None:
        self.sagemaker.by_hand(change.action, NAME, change.group, change.count)

    def make_foreign(self) -> None:
        tags = {"hyperpod-cdk:stack-id": _OTHER_STACK, "hyperpod-cdk:logical-id": "Other"}
        template: ClusterTemplate = self._first
        group = {"InstanceGroupName": "z", "InstanceCount": 4, "InstanceType": "ml.m5.2xlarge"}
        with self.world.invoked("another stack", None):
            self.world.calm = True
            self.sagemaker.create_cluster(
                ClusterName=NAME,
                InstanceGroups=[group],
                NodeProvisioningMode="Continuous" if template.continuous else None,
                Tags=[{"Key": key, "Value": value} for key, value in tags.items()],
            )
            self.world.calm = False
            self.world.sleep(_QUIET_SECONDS)

    def calm_down(self) -> float:
        """Let HyperPod do all that it is asked for."""
        conduct = self.conduct
        slow = conduct.update_seconds > _QUIET_SECONDS
        conduct.failing_updates = conduct.failing_patches = conduct.failing_creations = ()
        conduct.bare_nodes = conduct.endless_pages = False
        conduct.failing_databases = ()
        for cluster in self.sagemaker.clusters.values():  # an operator takes back the edits
            cluster.drifted = False
        conduct.short_of, conduct.update_seconds = (), min(conduct.update_seconds, 100.0)
        return _LONG_QUIET_SECONDS if slow else _QUIET_SECONDS

    def next_template(self, template: ClusterTemplate) -> ClusterTemplate:
        random = Random(f"heal {self._seed}")  # noqa: S311 - a game of chance
        return next_template(template, random, 9, dares=False)


_EDITS = (*("edit slurm.conf",) * 6, "scale", "add", "patch")


class SlurmSubject(ClusterSubject):
    """A HyperPod cluster orchestrated by Slurm, whose slurm.conf an operator edits."""

    first_template = staticmethod(first_under_slurm)

    @staticmethod
    def drawn_conduct(random: Random) -> Conduct:
        conduct = ClusterSubject.drawn_conduct(random)
        fails = random.random() < 0.5
        return replace(
            conduct,
            drift=random.choice(("refused", "conflict", "taken back", "taken back")),
            forgets_strategy=random.random() < 0.5,
            fills_in=random.random() < 0.5,
            failing_databases=("db-2",) if fails else (),
            database_seconds=random.choice((5.0, 60.0, 400.0)),
            # Shown early, a database that fails late is told to be in use.
            shows_early=not fails and random.random() < 0.5,
        )

    @staticmethod
    def changes_by_hand(random: Random, operations: Sequence[Operation]) -> Iterator[ByHand]:
        # What is made anew with another type, or controller, has no way back.
        groups = [group for one in operations for group in one.template.groups]
        turned = any("Login" in group.slurm or group.name == CHIEF for group in groups)
        for one in ClusterSubject.changes_by_hand(random, operations):
            if not (turned and one.action in {"remove", "delete cluster"}):
                yield one
        for _ in range(2):
            for one in ClusterSubject.changes_by_hand(random, operations):
                yield replace(one, action=random.choice(_EDITS))


class _NoEks:
    """An EKS cluster that is gone: what is left in Kubernetes is no matter of these histories."""

    def describe_cluster(self, *, name: str) -> dict[str, Any]:
        raise client_error("ResourceNotFoundException", "DescribeCluster", name)
