"""The matrix of docs/security.md: what each who is part of a deployment, or near it, can reach."""

import re
from collections.abc import Iterable, Iterator, Sequence

from tools.generate.marks import table
from tools.security.roles import Reason, Role

_HEADS = (
    "who",
    "Kubernetes or Slurm",
    "jobs and files of other teams",
    "nodes",
    "AWS",
)
# What only looks: a row has what changes something, or hands out contents.
_LOOKS = re.compile(r"\w[\w-]*:(BatchCheck|Describe|GetAuth|List)")
_NODES = "ExecutionRole"
_ACCOUNTING = "`cluster.slurm.accounting`"

_ROWS: Sequence[Sequence[str]] = (
    (
        "**editor** (`teams`, `eks.editors`)",
        "all in its namespaces but quotas and roles",
        "files of claims there (their `directory`), as uids of the team, without one any; "
        "pods elsewhere with `trust: shared`",
        "none: pods meet `baseline`",
        "roles of Pod Identity in its namespaces; as a job",
    ),
    (
        "**viewer** (`teams`, `eks.viewers`)",
        "sees pods and logs, no Secrets",
        "logs",
        "none",
        "none",
    ),
    (
        "**data scientist**",
        "EKS: an editor; Slurm: its own jobs",
        "Slurm: what file permissions allow",
        "Slurm: a shell as its uid",
        "as a job",
    ),
    (
        "**job**",
        "EKS: its service account, which may nothing by default; Slurm: as its user",
        "as who runs it",
        "none",
        "its role of Pod Identity; perhaps a HyperPod node's, see *a pod* below",
    ),
    (
        "**node** (root on one)",
        "EKS: Secrets and tokens of its pods; Slurm: all, by the MUNGE key",
        "all files, as any uid",
        "EKS: itself; Slurm: all",
        "{node}",
    ),
    (
        "**controller** of Slurm (root on it)",
        "all jobs, as any user",
        "all",
        "all",
        "as a node, and {controller}",
    ),
    ("**deployer**", "all", "all", "root on all", "what CloudFormation's role may: the account"),
    (
        "**pusher** to a pipeline's branch",
        "as a deployer, where no approval is asked; else after it "
        "([more](pipeline.md#what-a-push-can-do))",
        "the same",
        "the same",
        "the same",
    ),
    (
        "**neighbor** on a machine that deploys or rehearses",
        "none",
        "none",
        "none",
        "none; perhaps code as its user: [rehearsal.md](rehearsal.md#a-job-that-survives)",
    ),
)


def reach_lines(roles: Sequence[Role], *, reasons: Sequence[Reason]) -> Iterator[str]:
    """Yield the matrix; the roles are of a default deployment, the reasons of all statements."""
    node = next(role for role in roles if role.name == _NODES)
    cells = {
        "node": _named(
            each.name
            for each in node.statements
            if not all(_LOOKS.match(action) for action in each.actions)
        ),
        "controller": _named(each.name for each in reasons if each.added_by == _ACCOUNTING),
    }
    rows = [[cell.format(**cells) for cell in row] for row in _ROWS]
    yield from table(_HEADS, rows).splitlines()


def _named(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in dict.fromkeys(names))
