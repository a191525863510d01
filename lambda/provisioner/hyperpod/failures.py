"""What goes wrong with a HyperPod cluster, as messages with cause and next step."""

from collections.abc import Sequence

from hyperpod_shared.cluster_changes import Refusal
from hyperpod_shared.clusters import Described, groups_of, leads, log_group
from hyperpod_shared.errors import ProvisioningError
from hyperpod_shared.failures import UNKNOWN, ReportedFailure, own_message
from hyperpod_shared.owner import owner_in_tags
from provisioner.hyperpod.look import Look

MOST_EXPLANATIONS = 3
_DEPLOY_AGAIN = "Fix the cause that the message names, then deploy again."


def failure(
    described: Described,
    reported: Sequence[ReportedFailure],
    *,
    shortages: Sequence[str] = (),
    what: str | None = None,
    next_step: str | None = None,
) -> ProvisioningError:
    """Return the failure of a cluster.

    What its events say comes newest first. `what` happened to it follows its name, by default its
    status; the next step is by default what suits the cause.
    """
    found = worth_telling(described, reported)
    leading = leading_groups(described)
    # The message of a group or an instance is closer to the cause than the cluster's.
    near = sorted(
        found,
        key=lambda one: (one.group not in leading, one.cause is UNKNOWN, one.group is None),
    )
    if next_step is None:
        next_step = near[0].next_step(described) if near else _no_cause(described)
    what = what or f"is {described['ClusterStatus']}"
    return ProvisioningError(
        f"The HyperPod cluster {described.get('ClusterName')} {what}",
        detail="; ".join([*map(str, found), *shortages]),
        next_step=next_step,
    )


def worth_telling(
    described: Described, reported: Sequence[ReportedFailure]
) -> tuple[ReportedFailure, ...]:
    """Return the failures worth telling: one of each kind, and the cluster's own message."""
    newest: dict[tuple[str | None, str], ReportedFailure] = {}
    for one in reported:  # a launch that is retried fails alike each time
        newest.setdefault((one.group, one.cause.name or one.text), one)
    leading = leading_groups(described)
    kinds = sorted(newest.values(), key=lambda one: one.group not in leading)
    kept = tuple(kinds[:MOST_EXPLANATIONS])
    own = own_message(described)
    if own is not None and not any(own.text.rstrip(". ") in one.text for one in kept):
        kept = (own, *kept)
    return kept


def leading_groups(described: Described) -> set[str]:
    """Return the groups without which no other node joins: their failure explains the others'."""
    return {name for name, group in groups_of(described).items() if leads(group)}


def refused_by_service(cluster_name: str, verb: str, error: Exception) -> ProvisioningError:
    """Return the failure of a call that SageMaker refused."""
    reported = ReportedFailure(text=str(error))
    next_step = _DEPLOY_AGAIN
    if verb == "delete":
        next_step = "Remove what the message names, then delete the stack again."
    elif reported.cause is not UNKNOWN and not reported.cause.is_of_nodes:
        next_step = reported.next_step({"ClusterName": cluster_name})
    return ProvisioningError(
        f"SageMaker refused to {verb} the HyperPod cluster {cluster_name}",
        detail=str(error),
        next_step=next_step,
    )


def refused_change(cluster_name: str, refusals: Sequence[Refusal]) -> ProvisioningError:
    """Return the failure for changes that HyperPod cannot make."""
    first = refusals[0]
    where = f" of the instance group {first.group}" if first.group else ""
    others = ", ".join(
        f"{refused.named} of {refused.group}" if refused.group else refused.named
        for refused in refusals[1:]
    )
    return ProvisioningError(
        f"{first.named}{where} of the HyperPod cluster {cluster_name} cannot change after creation",
        detail=f"the same holds for {others}" if others else "",
        next_step=first.instead,
    )


def renamed(look: Look) -> ProvisioningError:
    """Return the failure for another name: CloudFormation deletes what it replaces last.

    An EKS cluster has one HyperPod cluster:
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks.html
    """
    return ProvisioningError(
        f"The HyperPod cluster cannot be renamed to {look.name}",
        detail="the new cluster would be made before the former one is deleted: an EKS cluster "
        "takes one HyperPod cluster, and Slurm's jobs go with the former one",
        next_step="Restore the name, or delete this stack and deploy it again, which creates a "
        "new cluster.",
    )


def differs(cluster_name: str, refusals: Sequence[Refusal]) -> ProvisioningError:
    """Return the failure for a former deployment's cluster that cannot be made the wanted one."""
    what = ", ".join(dict.fromkeys(refused.what for refused in refusals))
    return ProvisioningError(
        f"The HyperPod cluster {cluster_name} of an earlier deployment is in service and differs "
        f"in {what}",
        detail="it cannot be made the one that is wanted, and may be in use",
        next_step=(
            "Choose another cluster name, or if it is no longer needed: aws sagemaker "
            f"delete-cluster --cluster-name {cluster_name}; then deploy again."
        ),
    )


def belongs_to_another(look: Look) -> ProvisioningError:
    """Return the failure for a cluster that is not the stack's."""
    return ProvisioningError(
        f"A HyperPod cluster {look.name} exists already and belongs to {owner_in_tags(look.tags)}",
        next_step="Choose another cluster name, or delete that cluster first.",
    )


def without_journal(look: Look) -> ProvisioningError:
    """Return the failure for a table that someone deleted."""
    return ProvisioningError(
        f"The HyperPod cluster {look.name} is not changed, because the journal's table is gone",
        detail="what earlier requests have called for is not known without it",
        next_step="Restore the table that JOURNAL_TABLE of the provisioner's function names from "
        "its backup (aws dynamodb list-backups, restore-table-from-backup), then deploy again.",
    )


def lost_its_tags(look: Look) -> ProvisioningError:
    """Return the failure for a cluster that is to be deleted and has no owner."""
    return ProvisioningError(
        f"The HyperPod cluster {look.name} no longer has the tags that identify it as created "
        "by this stack",
        next_step=(
            "If it is not needed: aws sagemaker delete-cluster --cluster-name "
            f"{look.name}; then delete the stack again."
        ),
    )


def kept(look: Look) -> ProvisioningError:
    """Return the failure that keeps a cluster in the stack, for the user to look at."""
    return ProvisioningError(
        f"The HyperPod cluster {look.name} is kept{_billed(look)}, because its creation failed and "
        "on_create_failure is keep",
        next_step=(
            "Find the cause, then deploy again, which replaces it, or delete the stack. If it "
            "is no longer in the stack: aws sagemaker delete-cluster --cluster-name "
            f"{look.name}"
        ),
    )


def _billed(look: Look) -> str:
    return f" with {look.nodes} nodes, which are billed" if look.nodes else ""


def may_be_kept(look: Look) -> ProvisioningError:
    """Return the failure of a Delete that may be a rollback's, which keeps the cluster."""
    return ProvisioningError(
        f"The HyperPod cluster {look.name} is not deleted, because it is unknown whether the "
        "stack is being rolled back, in which case the cluster is kept",
        next_step="Allow the provisioner's role cloudformation:DescribeStackEvents, then delete "
        "the stack again.",
    )


def failed_in_use(look: Look) -> ProvisioningError:
    """Return the failure for a cluster of an earlier stack that failed after it worked."""
    return ProvisioningError(
        f"A HyperPod cluster {look.name} of an earlier stack of this name is "
        f"Failed{_billed(look)}; it is not replaced, because it may still be in use",
        next_step=(
            "If it is not needed: aws sagemaker delete-cluster --cluster-name "
            f"{look.name}; then deploy again. Or choose another cluster name."
        ),
    )


def governed(cluster_name: str, objects: Sequence[str]) -> ProvisioningError:
    """Return the failure for a cluster that task governance keeps from being deleted."""
    return ProvisioningError(
        f"The HyperPod cluster {cluster_name} cannot be deleted while task governance uses it",
        detail=", ".join(objects),
        next_step=(
            "Delete these in the HyperPod console (Policies) or by their ids (aws sagemaker "
            "list-compute-quotas, delete-compute-quota, list-cluster-scheduler-configs, "
            "delete-cluster-scheduler-config), then delete again."
        ),
    )


def _no_cause(described: Described) -> str:
    return (
        f"AWS names no cause: look at log group {log_group(described)}, and at the nodes with "
        f"aws sagemaker list-cluster-nodes --cluster-name {described.get('ClusterName')}; then "
        "deploy again."
    )
