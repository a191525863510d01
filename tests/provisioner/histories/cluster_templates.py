"""What the templates of a history's stack ask of its HyperPod cluster."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from random import Random
from typing import Any

from tests.provisioner.histories.plan import Template

NAME = "ml-cluster"
_EKS = "arn:aws:eks:us-west-2:111122223333:cluster/ml"
_COUNTS = (1, 2, 3, 5, 8)
_MOST_GROUPS = 3
_SECRET = "arn:aws:secretsmanager:us-west-2:111122223333:secret:accounting"  # noqa: S105 - an ARN
HEAD, CHIEF = "head", "chief"
"""The name of a Slurm cluster's controller group, and another one."""
_PARTITIONS = ("cpu", "gpu", "long")
STRATEGIES = ("Managed", "Overwrite", "Merge")


@dataclass(frozen=True, kw_only=True)
class GroupSpec(Template):
    name: str
    count: int
    release: str | None = None
    image: str | None = None
    slurm: tuple[str, ...] = ()
    """What its nodes are in Slurm, and their partition."""
    lustre: str = ""


@dataclass(frozen=True, kw_only=True)
class ClusterTemplate(Template):
    groups: tuple[GroupSpec, ...]
    continuous: bool
    recovery: str = "Automatic"
    software: str = ""
    wait_for: str = "nodes"
    wait_minutes: int = 50
    on_shortage: str = "continue"
    on_create_failure: str = "keep"
    slurm: bool = False
    strategy: str = ""
    database: str = ""

    @cached_property
    def by_name(self) -> Mapping[str, GroupSpec]:
        return {group.name: group for group in self.groups}

    @cached_property
    def properties(self) -> Mapping[str, Any]:
        return _properties(self)


@lru_cache(maxsize=4096)
def _properties(template: ClusterTemplate) -> Mapping[str, Any]:
    request: dict[str, Any] = {
        "ClusterName": NAME,
        "Orchestrator": _orchestrator(template),
        "VpcConfig": {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-1"]},
        "InstanceGroups": [_group(one) for one in template.groups],
        "NodeRecovery": template.recovery,
        "Tags": [{"Key": "team", "Value": "research"}],
    }
    if template.continuous:
        request["NodeProvisioningMode"] = "Continuous"
    return {
        "ServiceToken": "arn:aws:lambda:us-west-2:111122223333:function:framework",
        "ClusterName": NAME,
        "Request": json.dumps(request),
        "WaitFor": template.wait_for,
        "WaitMinutes": str(template.wait_minutes),
        "OnShortage": template.on_shortage,
        "OnCreateFailure": template.on_create_failure,
        "SoftwareUpdate": template.software,
    }


def _orchestrator(template: ClusterTemplate) -> dict[str, Any]:
    if not template.slurm:
        return {"Eks": {"ClusterArn": _EKS}}
    own: dict[str, Any] = {"SlurmConfigStrategy": template.strategy} if template.strategy else {}
    if template.database:
        own["AccountingDatabase"] = {"Endpoint": template.database, "SecretArn": _SECRET}
    return {"Slurm": own}


def _group(spec: GroupSpec) -> dict[str, Any]:
    made = {
        "InstanceGroupName": spec.name,
        "InstanceCount": spec.count,
        "InstanceType": "ml.m5.2xlarge",
        "ExecutionRole": "arn:aws:iam::111122223333:role/execution",
        "ThreadsPerCore": 1,
        "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-b", "OnCreate": "on_create.sh"},
    }
    if spec.release:
        made["ImageReleaseVersion"] = spec.release
    if spec.image:
        made["ImageId"] = spec.image
    if spec.slurm:
        node_type, *partitions = spec.slurm
        own = {"PartitionNames": partitions} if partitions else {}
        made["SlurmConfig"] = {"NodeType": node_type, **own}
    if spec.lustre:
        mount = {"DnsName": spec.lustre, "MountName": "m", "MountPath": "/fsx"}
        made["InstanceStorageConfigs"] = [{"FsxLustreConfig": mount}]
    return made


def first_template(random: Random) -> ClusterTemplate:
    names = ["a", "b", "c"][: random.choice((1, 2, 2, 3))]
    return ClusterTemplate(
        groups=tuple(GroupSpec(name=name, count=random.choice(_COUNTS)) for name in names),
        continuous=random.random() < 0.6,
        wait_for=random.choice(("nodes", "nodes", "nodes", "in_service", "accepted")),
        on_shortage=random.choice(("continue", "continue", "fail")),
        on_create_failure=random.choice(("keep", "keep", "delete")),
    )


def first_under_slurm(random: Random) -> ClusterTemplate:
    """Draw a stack's first template of a Slurm cluster; its controller is not the first group."""
    first = first_template(random)
    workers = [_computing(group, random) for group in first.groups]
    return replace(
        first,
        groups=(*workers, GroupSpec(name=HEAD, count=1, slurm=("Controller",))),
        slurm=True,
        strategy="" if first.continuous else random.choice(("Managed", *STRATEGIES)),
        database=random.choice(("", "db-1")) if first.continuous else "",
    )


def _computing(group: GroupSpec, random: Random) -> GroupSpec:
    others = [name for name in _PARTITIONS if name not in group.slurm]
    return replace(group, slurm=("Compute", random.choice(others)))


def next_template(
    template: ClusterTemplate, random: Random, number: int, *, dares: bool = True
) -> ClusterTemplate:
    """Draw a template that differs in one to three ways; one that dares, in what never changes."""
    changed = template
    for _ in range(random.choice((1, 1, 1, 2, 2, 3))):
        if template.slurm and random.random() < _SLURMS_SHARE:
            changed = _changed_in_slurm(changed, random, dares=dares)
            continue
        heads = tuple(group for group in changed.groups if "Controller" in group.slurm)
        workers = tuple(group for group in changed.groups if "Controller" not in group.slurm)
        changed = _changed(replace(changed, groups=workers), random, number, template.by_name)
        added = (
            group if group.slurm or not template.slurm else _computing(group, random)
            for group in changed.groups
        )
        changed = replace(changed, groups=(*added, *heads))
    return changed


_SLURMS_SHARE = 0.45


def _changed_in_slurm(template: ClusterTemplate, random: Random, *, dares: bool) -> ClusterTemplate:
    groups = list(template.groups)
    workers = [at for at, group in enumerate(groups) if "Compute" in group.slurm]
    if not workers:
        return template
    at, other = random.choice(workers), random.choice(workers)
    kind = random.random()
    if kind < 0.3:
        groups[at] = _computing(groups[at], random)
    elif kind < 0.45:
        former = groups[at].slurm
        groups[at] = replace(groups[at], slurm=groups[other].slurm)
        groups[other] = replace(groups[other], slurm=former)
    elif kind < 0.55:
        # By mounts alone, a group does not show whether an update was taken back.
        moved = _computing(groups[at], random)
        groups[at] = replace(moved, lustre=random.choice(("fs-1.fsx", "fs-2.fsx")))
    elif kind < 0.95 or not dares:
        if not template.continuous:
            return replace(template, strategy=random.choice(STRATEGIES))
        left_out = ("",) if dares else ()  # refused, if there was one
        return replace(template, database=random.choice(("db-1", "db-2", *left_out)))
    elif kind < 0.98:
        groups[at] = replace(groups[at], slurm=("Login",))
    else:
        groups = [replace(one, name=CHIEF) if one.name == HEAD else one for one in groups]
    return replace(template, groups=tuple(groups))


def _changed(
    template: ClusterTemplate, random: Random, number: int, former: Collection[str]
) -> ClusterTemplate:
    groups = list(template.groups)
    at = random.randrange(len(groups))
    kind = random.random()
    if kind < 0.40:
        counts = [count for count in _COUNTS if count != groups[at].count]
        groups[at] = replace(groups[at], count=random.choice(counts))
    elif kind < 0.55 and len(groups) < _MOST_GROUPS:
        # A group that comes back under its name in one update would be the same, with its type.
        name = next(name for name in "abcd" if name not in {*template.by_name, *former})
        groups.append(GroupSpec(name=name, count=random.choice(_COUNTS)))
    elif kind < 0.68 and len(groups) > 1:
        del groups[at]
    elif kind < 0.78:
        groups[at] = replace(groups[at], release=f"1.{number}.{random.randrange(3)}", image=None)
    elif kind < 0.84:
        groups[at] = replace(groups[at], image=f"ami-{number}{random.randrange(3)}", release=None)
    elif kind < 0.92:
        return replace(template, software=f"text {number}")
    else:
        recovery = "None" if template.recovery == "Automatic" else "Automatic"
        return replace(template, recovery=recovery)
    return replace(template, groups=tuple(groups))
