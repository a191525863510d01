"""What follows from the state of an EKS cluster."""

from typing import Any

import pytest

from hyperpod_shared.errors import NotReadyError, ProvisioningError
from provisioner.kubernetes.eks_cluster import (
    ClusterFailedError,
    ClusterNotFoundError,
    require_usable,
)

ENDPOINT = "https://ABC.gr7.us-west-2.eks.amazonaws.com"
ISSUES = {"issues": [{"code": "InsufficientFreeAddresses", "message": "no free IP addresses"}]}


@pytest.mark.parametrize("status", ["ACTIVE", "UPDATING", "PENDING"])
def test_one_with_an_endpoint_is_used(status: str) -> None:
    require_usable({"name": "ml", "status": status, "endpoint": ENDPOINT})


@pytest.mark.parametrize(
    ("found", "error", "told"),
    [
        ({"status": "CREATING"}, NotReadyError, "is CREATING.*describe-cluster --name ml; deploy"),
        ({"status": "CREATING", "endpoint": ENDPOINT}, NotReadyError, "is CREATING"),
        # As logged in https://github.com/aws/aws-cdk/issues/18746.
        ({"status": "CREATING", "endpoint": None}, NotReadyError, "has no endpoint"),
        ({"status": "ACTIVE", "endpoint": None}, NotReadyError, "is ACTIVE and has no endpoint"),
        ({"status": "UPDATING", "endpoint": ""}, NotReadyError, "is UPDATING and has no endpoint"),
        (
            {"status": "DELETING", "endpoint": ENDPOINT},
            ClusterNotFoundError,
            "is DELETING and cannot be reached.*Wait until it is gone",
        ),
        ({"status": "FAILED"}, ClusterFailedError, "is FAILED.*describe-cluster --name ml"),
        (
            {"status": "FAILED", "endpoint": ENDPOINT, "health": ISSUES},
            ClusterFailedError,
            "is FAILED.*InsufficientFreeAddresses: no free IP addresses.*delete the stacks",
        ),
    ],
)
def test_any_other_is_waited_for_or_told(
    found: dict[str, Any], error: type[ProvisioningError], told: str
) -> None:
    with pytest.raises(ProvisioningError, match=told) as raised:
        require_usable({"name": "ml", **found})
    assert type(raised.value) is error
