"""The access entries and the service-linked role HyperPod makes on the caller's behalf."""

import json
from collections.abc import Iterable

from emulator.aws.eks import api as eks_api
from emulator.aws.ministack import eks, iam
from emulator.aws.sagemaker.permissions import (
    HYPERPOD,
    SERVICE_LINKED_ROLE,
    SERVICE_LINKED_ROLE_PATH,
)

_CREATED_BY = "emulator:created-by-hyperpod-cluster"


def create_access_entries(*, eks_cluster_arn: str, roles: Iterable[str], cluster_name: str) -> None:
    """Give each execution role an entry of type HYPERPOD_LINUX; an existing entry is left alone."""
    eks_name = eks_cluster_arn.rsplit("/", 1)[-1]
    for role in roles:
        if eks.ae_key(eks_name, role) not in eks.access_entries:
            body = {
                "principalArn": role,
                "type": "HYPERPOD_LINUX",
                "tags": {_CREATED_BY: cluster_name},
            }
            eks_api.answer(eks.create_access_entry(eks_name, body))


def delete_access_entries(*, eks_cluster_arn: str, roles: Iterable[str], cluster_name: str) -> None:
    """Remove the entries made for a cluster, and no other."""
    eks_name = eks_cluster_arn.rsplit("/", 1)[-1]
    for role in roles:
        entry = eks.access_entries.get(eks.ae_key(eks_name, role))
        if entry is not None and entry["tags"].get(_CREATED_BY) == cluster_name:
            eks_api.answer(eks.delete_access_entry(eks_name, role))


def has_service_linked_role() -> bool:
    """Return whether the account has HyperPod's service-linked role."""
    return SERVICE_LINKED_ROLE in iam.roles


def create_service_linked_role() -> None:
    """Create HyperPod's service-linked role."""
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": HYPERPOD},
        "Action": "sts:AssumeRole",
    }
    iam.create_role(
        {
            "RoleName": SERVICE_LINKED_ROLE,
            "Path": SERVICE_LINKED_ROLE_PATH,
            "AssumeRolePolicyDocument": json.dumps(
                {"Version": "2012-10-17", "Statement": [statement]}
            ),
        }
    )
