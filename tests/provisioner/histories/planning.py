"""Draws a history from a seed."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random

from tests.provisioner.histories.cluster_history import ClusterSubject, SlurmSubject
from tests.provisioner.histories.governance_history import GovernanceSubject
from tests.provisioner.histories.invariants import Subject
from tests.provisioner.histories.plan import Operation, Plan
from tests.provisioner.histories.release_history import ReleaseSubject
from tests.provisioner.histories.scripts_history import ScriptsSubject
from tests.provisioner.histories.small_history import SmallSubject
from tests.provisioner.histories.world import Faults

PROFILES = ("calm", "throttled", "lagging", "strange", "lost", "killed", "twice", "all")
SUBJECTS: Mapping[str, tuple[type[Subject], float]] = {
    "scripts": (ScriptsSubject, 0.05),
    "release": (ReleaseSubject, 0.2),
    "small": (SmallSubject, 0.05),
    "governance": (GovernanceSubject, 0.1),
    "cluster": (ClusterSubject, 0.4),
    "slurm": (SlurmSubject, 0.2),
}
"""What histories are about, with the share of each."""


def planned(seed: int, *, profile: str | None = None, subject: str | None = None) -> Plan:
    """Draw a history; the seed decides what is not said."""
    random = Random(f"plan {seed}")  # noqa: S311 - a game of chance
    drawn = random.choice(PROFILES)
    profile, about = profile or drawn, subject or _subject(seed)
    made, _ = SUBJECTS[about]
    faults = _faults(random, profile)
    operations = tuple(_operations(random, made, profile))
    conduct = made.drawn_conduct(random)
    by_hand = tuple(made.changes_by_hand(random, operations))
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
        conduct=conduct,
        faults=faults,
        foreign=random.random() < 0.03,
        heals=not deletes,
        lasts=random.random() < 0.2,
    )


def _subject(seed: int) -> str:
    """Draw what a history is about, with a chance of its own: it changes no other draw."""
    chance = Random(f"subject {seed}")  # noqa: S311
    return chance.choices([*SUBJECTS], weights=[share for _, share in SUBJECTS.values()])[0]


def _operations(random: Random, subject: type[Subject], profile: str) -> Iterator[Operation]:
    """Draw deployments, of which a sibling fails, or whose request comes twice."""
    share = 0.08
    for template in subject.templates(random):
        fails_after = again = None
        deletes = random.random() < 0.3  # of those that fail while the stack is created
        if random.random() < share:
            fails_after = random.choice((0.5, 2.0, 5.0, 15.0, 40.0, 80.0, 150.0, 300.0, 600.0))
            fails_after *= random.uniform(0.8, 1.3)
        if profile in {"twice", "all"} and random.random() < 0.5:
            again = random.choice((0.5, 5.0, 20.0, 60.0, 180.0))
        yield Operation(
            kind="deploy",
            template=template,
            pause=random.choice(subject.pauses),
            fails_after=fails_after,
            delivered_again=again,
            deletes=deletes,
        )
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
