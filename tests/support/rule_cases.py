"""Rows of the tables of checks: a configuration, and what a rule finds in it."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from hyperpod_cdk import ClusterConfig, Config, EksConfig, NetworkConfig
from hyperpod_cdk.schema.errors import Severity, key_path
from hyperpod_cdk.schema.rules import Rule
from tests.support.configs import configured
from tests.support.refusals import without_names

ERROR, WARNING = Severity.ERROR, Severity.WARNING
GPU, GPU_WITHOUT_EFA, CPU = "ml.p5.48xlarge", "ml.g5.xlarge", "ml.m5.2xlarge"
TRAINIUM, UNDESCRIBED = "ml.trn2.48xlarge", "ml.p6e-gb200.36xlarge"
PLAN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/plan"
KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd"
CHECKS = ["InstanceStress"]
TAINT = {"key": "team", "value": "a", "effect": "NoSchedule"}
SOFT_TAINT = {"key": "team", "effect": "PreferNoSchedule"}
ZONE, OTHER_ZONE = "usw2-az1", "usw2-az2"

Expected = tuple[Severity, str]
"""Severity, and the key path, or its beginning."""

Subject = TypeVar("Subject", Config, ClusterConfig, EksConfig, NetworkConfig)


@dataclass(frozen=True, kw_only=True, slots=True)
class Case(Generic[Subject]):
    """One row of a rule's table; nothing expected makes it a passing one."""

    rule: Rule[Subject]
    title: str
    subject: Subject
    expected: tuple[Expected, ...] = ()

    def __str__(self) -> str:
        return f"{self.rule.__name__}: {self.title}"


Cases = dict[Rule[Any], Mapping[str, Any]]
"""By rule and title: what passes, or what fails and what is expected."""


def rows_of(cases: Cases) -> Iterator[Case[Any]]:
    """Yield the rows of tables."""
    for rule, rows in cases.items():
        for title, row in rows.items():
            subject, *expected = row if isinstance(row, tuple) else (row,)
            yield Case(rule=rule, title=title, subject=subject, expected=tuple(expected))


def group(instance_type: str | None = CPU, *, index: int = 0, **changes: Any) -> dict[str, Any]:
    """Return an instance group of one node, with a number in its name."""
    named = {"name": f"group-{index}", "instance_type": instance_type, "instance_count": 1}
    return {**named, **changes}


def own_subnets(count: int) -> dict[str, list[str]]:
    """Return an `override_vpc` with so many subnets."""
    return {"subnet_ids": [f"subnet-1234567{index}" for index in range(count)]}


def cluster(
    *groups: Mapping[str, Any], restricted: Sequence[Mapping[str, Any]] = (), **changes: Any
) -> ClusterConfig:
    """Return a cluster of these instance groups; an ordinary one where `changes` say nothing."""
    return configured({"cluster": _of(groups, restricted=restricted) | changes}).cluster


def config(
    *groups: Mapping[str, Any],
    restricted: Sequence[Mapping[str, Any]] = (),
    of_cluster: Mapping[str, Any] | None = None,
    **changes: Any,
) -> Config:
    """Return a deployment with a cluster of these groups; `changes` are of other sections."""
    groups_and_more = _of(groups, restricted=restricted) | dict(of_cluster or {})
    return configured({"cluster": groups_and_more, **changes})


def _of(
    groups: Sequence[Mapping[str, Any]], *, restricted: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    return {
        "instance_groups": list(groups or [group()]),
        "restricted_instance_groups": list(restricted),
    }


def subnets(*blocks: str | tuple[str, str]) -> dict[str, Any]:
    """Return a network; each subnet is a CIDR block in usw2-az1, or a block with its zone."""
    pairs = [(block, ZONE) if isinstance(block, str) else block for block in blocks]
    return {
        "hyperpod_subnets": [
            {"cidr": cidr, "availability_zone_id": zone_id} for cidr, zone_id in pairs
        ]
    }


TWO_ZONES = subnets("10.1.0.0/17", ("10.1.128.0/17", OTHER_ZONE))


def in_group(severity: Severity, key: str, *, index: int = 0) -> Expected:
    """Expect a finding at a key of one group."""
    return severity, f"cluster.instance_groups[{index}].{key}"


def check(case: Case[Subject]) -> None:
    """Assert that the rule finds what the case expects, and nothing else."""
    found = list(case.rule(case.subject))

    assert [finding.severity for finding in found] == [row[0] for row in case.expected]
    for finding, (_, path) in zip(found, case.expected, strict=True):
        assert without_names(key_path(finding.path)).startswith(path)
        assert finding.message.isprintable()


def check_table(rule: Rule[Subject], *, cases: Sequence[Case[Subject]]) -> None:
    """Assert that a rule has a case that passes and one that fails, and names its source."""
    expected = [bool(case.expected) for case in cases if case.rule is rule]

    assert set(expected) == {True, False}, "give it a case that passes, and one that fails"
    assert "https://" in (inspect.getdoc(rule) or ""), "link the source in its docstring"
