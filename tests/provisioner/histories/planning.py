"""Draws a history from a seed."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any

from tests.provisioner.histories import (
    cluster_history,
    governance_history,
    release_history,
    scripts_history,
    small_history,
)
from tests.provisioner.histories.cluster_templates import CHIEF
from tests.provisioner.histories.history import Plan, Subject
from tests.provisioner.histories.requests import Operation
from tests.provisioner.histories.world import Faults

PROFILES = ("calm", "throttled", "lagging", "strange", "lost", "killed", "twice", "all")
SUBJECTS = {
    "scripts": 0.05,
    "release": 0.2,
    "small": 0.05,
    "governance": 0.1,
    "cluster": 0.4,
    "slurm": 0.2,
}
"""What histories are about, with the share of each."""
_OTHERS: Mapping[str, tuple[Any, type[Subject]]] = {
    "release": (release_history, release_history.ReleaseSubject),
    "scripts": (scripts_history, scripts_history.ScriptsSubject),
    "small": (small_history, small_history.SmallSubject),
    "governance": (governance_history, governance_history.GovernanceSubject),
}
"""What draws those that are not about a cluster."""


def planned(seed: int, *, profile: str | None = None, subject: str | None = None) -> Plan:
    """Draw a history; the seed decides what is not said."""
    random = Random(f"plan {seed}")  # noqa: S311 - a game of chance
    drawn = random.choice(PROFILES)
    profile, about = profile or drawn, subject or _subject(seed)
    accidents = _accidents(random, profile)
    faults = _faults(random, profile)
    by_hand: tuple[Any, ...] = ()
    if about in _OTHERS:
        module, made = _OTHERS[about]
        operations: tuple[Operation, ...] = module.operations(random, accidents)
        service: Any = module.conduct(random)
    else:
        operations, first = cluster_history.operations(random, accidents, slurm=about == "slurm")
        service = cluster_history.conduct(random, continuous=first.continuous)
        made = cluster_history.ClusterSubject
        by_hand = tuple(cluster_history.changes_by_hand(random, len(operations)))
    if about == "slurm":
        service = cluster_history.slurms_conduct(random, service)
        by_hand += tuple(cluster_history.edits_of_slurm(random, len(operations)))
        # What is made anew with another type, or controller, has no way back.
        anew = {"remove", "delete cluster"}
        groups = [group for one in operations for group in one.template.groups]
        turned = any("Login" in group.slurm or group.name == CHIEF for group in groups)
        by_hand = tuple(one for one in by_hand if not (turned and one.action in anew))
    deletes = random.random() < 0.25
    if deletes:
        operations += (Operation(kind="delete", pause=random.choice((1.0, 30.0))),)
    return Plan(
        seed=seed,
        about=about,
        subject=made,
        profile=profile,
        operations=operations,
        by_hand=by_hand,
        conduct=service,
        faults=faults,
        foreign=random.random() < 0.03,
        heals=not deletes,
        lasts=random.random() < 0.2,
    )


def _subject(seed: int) -> str:
    """Draw what a history is about, with a chance of its own: it changes no other draw."""
    chance = Random(f"subject {seed}")  # noqa: S311
    return chance.choices([*SUBJECTS], weights=[*SUBJECTS.values()])[0]


def _accidents(random: Random, profile: str) -> Iterator[dict[str, Any]]:
    """Yield for each operation whether a sibling fails, and whether its request comes twice."""
    share = 0.08
    while True:
        fails_after = again = None
        deletes = random.random() < 0.3  # of those that fail while the stack is created
        if random.random() < share:
            fails_after = random.choice((0.5, 2.0, 5.0, 15.0, 40.0, 80.0, 150.0, 300.0, 600.0))
            fails_after *= random.uniform(0.8, 1.3)
        if profile in {"twice", "all"} and random.random() < 0.5:
            again = random.choice((0.5, 5.0, 20.0, 60.0, 180.0))
        yield {"fails_after": fails_after, "delivered_again": again, "deletes": deletes}
        share = 0.5  # of an update; a first deployment is mostly left alone


def _faults(random: Random, profile: str) -> Faults:
    every = profile == "all"
    faults = Faults(steady=random.random() < 0.5)
    if profile == "throttled" or every:
        begin = random.uniform(0.0, 1500.0)
        service = random.choice(("sagemaker", "cloudformation", "dynamodb", "kubernetes", "s3"))
        bursts = ((service, begin, begin + random.choice((75.0, 150.0, 600.0))),)
        faults = replace(
            faults,
            throttled=random.choice((0.0, 0.05, 0.2, 0.4)),
            bursts=bursts if random.random() < 0.6 else (),
        )
    if profile == "lagging" or every:
        faults = replace(
            faults,
            describe_lag=random.choice((0.0, 3.0, 10.0, 40.0, 100.0)),
            stack_lag=random.choice((0.0, 0.0, 0.0, 5.0, 20.0, 45.0)),
            turns_back=random.random() < 0.3,
        )
    if profile == "strange" or every:
        faults = replace(
            faults,
            garbled=random.choice((0.0, 0.02, 0.2)),
            # A request that is delivered again is like any other of its type then.
            hidden=not every and random.random() < 0.3,
            skew=random.choice((0.0, random.uniform(-1.0, 1.0))),
        )
    if profile == "lost" or every:
        faults = replace(faults, lost=random.choice((0.02, 0.1, 0.3)))
    if profile == "killed" or every:
        faults = replace(faults, killed=random.choice((0.01, 0.03, 0.08)))
    return faults
