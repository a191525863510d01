"""What HyperPod does with Slurm, for the simulated SageMaker, and what must hold of it.

AWS's pages differ on some of it, which the conduct of a history decides:
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-slurm-api-config-migration.html
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.provisioner.histories.cluster_templates import CHIEF, HEAD, ClusterTemplate, GroupSpec
from tests.provisioner.histories.clusters import CONTINUOUS, Cluster, Conduct, Group
from tests.provisioner.histories.plan import Request
from tests.support.provisioner.fake_s3 import client_error

DATABASE, STRATEGY = "AccountingDatabase", "SlurmConfigStrategy"
DRIFT = "Partition configuration drift detected."
Settings = dict[str, Any]


def asked(request: Mapping[str, Any]) -> Settings | None:
    """Return what a request tells Slurm; None if it does not."""
    found: Settings | None = (request.get("Orchestrator") or {}).get("Slurm")
    return found


def node_type(spec: Mapping[str, Any]) -> str | None:
    return (spec.get("SlurmConfig") or {}).get("NodeType")


def leads(spec: Mapping[str, Any]) -> bool:
    return node_type(spec) == "Controller"


def strategy_of(cluster: Cluster) -> str:
    return str((cluster.slurm or {}).get(STRATEGY, "Managed"))


def refuse(
    operation: str,
    request: Mapping[str, Any],
    groups: Sequence[Mapping[str, Any]],
    *,
    mode: Mapping[str, Any],
    former: Settings | None = None,
) -> None:
    """Refuse what a Slurm cluster cannot be; `former` is what Slurm is told now, if anything."""
    told = asked(request)
    if told is None and former is None:
        return
    is_continuous = mode.get("NodeProvisioningMode") == CONTINUOUS
    if is_continuous and STRATEGY in (told or {}):
        raise _invalid(operation, "SlurmConfigStrategy is not supported with Continuous")
    if not is_continuous and DATABASE in (told or {}):
        raise _invalid(operation, "AccountingDatabase needs Continuous")
    controllers = sum(map(leads, groups))
    if controllers != 1:
        raise _invalid(operation, f"{controllers} Controller Groups found")


def drifts(cluster: Cluster, request: Mapping[str, Any], conduct: Conduct) -> bool:
    """Say whether an update meets what somebody edited by hand."""
    if cluster.slurm is None or cluster.continuous or not cluster.drifted:
        return False
    told = asked(request)
    kept = "Managed" if told is None and conduct.forgets_strategy else strategy_of(cluster)
    return bool((told or {}).get(STRATEGY, kept) == "Managed")


def described(cluster: Cluster, conduct: Conduct) -> dict[str, Any]:
    if cluster.slurm is None:
        return {}
    shown = dict(cluster.slurm)
    if conduct.fills_in:
        if not cluster.continuous:
            shown[STRATEGY] = strategy_of(cluster)
        if DATABASE in shown:
            shown[DATABASE] = {"Port": 3306, "Name": "slurm_acct_db_1", **shown[DATABASE]}
    return {"Orchestrator": {"Slurm": shown}}


def is_in_slurm_as(group: Group, spec: GroupSpec) -> bool:
    """Say whether a group's nodes are in Slurm what a template says."""
    own = group.spec.get("SlurmConfig") or {}
    shown = [own["NodeType"], *own.get("PartitionNames", ())] if own else []
    return shown == [*spec.slurm]


def misled(request: Request, cluster: Cluster) -> str:
    """Return what is wrong with what a failure says of Slurm, if anything is."""
    text, wanted = str(request.error), request.wanted
    if request.kind == "create" and cluster.status == "Failed":
        told = text.partition("group ")[2]
        return (
            "" if told.startswith((HEAD, CHIEF)) else "another group is told before the controller"
        )
    if "drift detected" in text and wanted.strategy in {"Overwrite", "Merge"}:
        return "edits stop an update that passes over them"
    is_silent = cluster.drifted and "cluster.slurm.strategy" not in text
    refused = "drift detected" in text or (" was busy for " in text and not cluster.busy_for)
    return "edits that stop an update are not explained" if is_silent and refused else ""


def is_told_as(cluster: Cluster, template: ClusterTemplate) -> bool:
    """Say whether Slurm is told what a template says; a database that it leaves out is kept."""
    told = cluster.slurm or {}
    database = (told.get("AccountingDatabase") or {}).get("Endpoint")
    same = template.strategy in {"", told.get("SlurmConfigStrategy", "Managed")}
    return same and template.database in {"", database}


def _invalid(operation: str, message: str) -> Exception:
    return client_error("ValidationException", operation, message)
