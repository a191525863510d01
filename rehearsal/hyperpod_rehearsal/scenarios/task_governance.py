"""A scenario in which quotas of teams cannot be made, or changed, at once."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from hyperpod_emulator.hyperpod import Faults
from hyperpod_rehearsal.report import Fact
from hyperpod_rehearsal.scenarios.scenario import (
    ON_EKS,
    Scenario,
    compared,
    first_workers,
    succeeds,
)
from hyperpod_rehearsal.stage import Stage
from hyperpod_shared.governance import IN_FORCE

_VCPUS = 4


def _governed(document: dict[str, Any], *, instance_type: str, teams: tuple[str, ...]) -> None:
    document["governance"] = {}
    document["teams"] = [
        {
            "name": name,
            "quota": [{"instance_type": instance_type, "vcpus": _VCPUS - index}],
        }
        for index, name in enumerate(teams)
    ]


def _let_share(stage: Stage, *teams: str) -> None:
    instance_type = first_workers(stage.config).possible_instance_types[0]
    stage.change(partial(_governed, instance_type=instance_type, teams=teams))


def _quotas_are(stage: Stage, *teams: str) -> Fact:
    quotas = stage.environment.clients("sagemaker").list_compute_quotas()["ComputeQuotaSummaries"]
    in_force = sorted(
        quota["ComputeQuotaTarget"]["TeamName"] for quota in quotas if quota["Status"] in IN_FORCE
    )
    # One that is not in force is none of theirs.
    there = in_force if len(quotas) == len(in_force) else [*in_force, "others"]
    return compared(f"the quotas in force are of {', '.join(sorted(teams))}", there, sorted(teams))


def _ends(stage: Stage) -> Iterator[Fact]:
    stage.environment.hyperpod.faults = Faults()
    yield succeeds("task governance is destroyed", stage.destroy("operators"))
    left = stage.environment.clients("sagemaker").list_compute_quotas()["ComputeQuotaSummaries"]
    yield Fact(title="no quota is left that would keep the cluster", ok=not left)


@Scenario(begins="anyhow", needs=ON_EKS)
def quotas_not_ready(stage: Stage) -> Iterator[Fact]:
    """Kueue's webhook is not ready for the first quota, and a change is a conflict."""
    stage.environment.hyperpod.faults = Faults(unready_webhooks=1, governance_conflicts=1)
    _let_share(stage, "research", "product")
    yield succeeds("a quota that fails for the webhook is made again", stage.deploy())
    yield _quotas_are(stage, "research", "product")
    _let_share(stage, "product", "students")
    yield succeeds("a conflict with another change is tried again", stage.deploy())
    yield _quotas_are(stage, "product", "students")
    yield from _ends(stage)
