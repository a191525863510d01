"""What a configuration names and no deployment makes, in the order in which it is made."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from hyperpod_cdk import Config
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_emulator.aws.local_aws import ACCOUNT
from hyperpod_rehearsal.existing_resources.base_images import base_images
from hyperpod_rehearsal.existing_resources.capacity import existing_reservations, placement_groups
from hyperpod_rehearsal.existing_resources.eks_clusters import eks_clusters
from hyperpod_rehearsal.existing_resources.networks import existing_networks, own_networks
from hyperpod_rehearsal.existing_resources.observability import grafana, topics, workspaces
from hyperpod_rehearsal.existing_resources.resource import ExistingResource
from hyperpod_rehearsal.existing_resources.roles import node_roles, principals
from hyperpod_rehearsal.existing_resources.storage import buckets, file_systems, kms_keys
from hyperpod_rehearsal.existing_resources.training_plans import training_plans

DEFAULT_REGION = "us-west-2"
"""Where a configuration without a region is rehearsed."""


_SUBJECTS: tuple[Callable[[Config], Iterable[ExistingResource]], ...] = (
    node_roles,
    principals,
    buckets,
    kms_keys,
    training_plans,
    workspaces,
    grafana,
    topics,
    existing_networks,
    file_systems,
    eks_clusters,
    own_networks,
    base_images,
    placement_groups,
    existing_reservations,
)
"""What each subject names; one that others are made in is before them."""


def named_account(config: Config) -> str | None:
    """Return the account that the configuration's ARNs name most, or None when none has one."""
    arns = [name.value for name in named_resources(config) if name.value.startswith("arn:")]
    accounts = Counter(arn.split(":")[4] for arn in arns)
    return accounts.most_common(1)[0][0] if accounts else None


def account_of(config: Config) -> str:
    """Return the account for the local AWS: the one that the configuration names, if any."""
    return named_account(config) or ACCOUNT


def existing_resources(config: Config, *, missing: Sequence[str] = ()) -> list[ExistingResource]:
    """Return what the configuration names of its account, in the order in which it is made.

    Args:
        config: The configuration.
        missing: ARNs, IDs or names of what the account is to lack all the same.

    Raises:
        OpsError: Something is to be missing that the configuration does not name.
    """
    named = (subject(config) for subject in _SUBJECTS)
    resources = list(dict.fromkeys(itertools.chain.from_iterable(named)))
    for value in missing:
        left = [item for item in resources if value not in str(item).replace(",", " ").split()]
        if left == resources:
            names = ", ".join(map(str, resources)) or "nothing that exists"
            raise OpsError(f"--missing: {value!r} is not what the configuration names: {names}")
        resources = left
    return resources
