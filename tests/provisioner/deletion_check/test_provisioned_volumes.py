"""Which claims have file systems that only a running driver deletes."""

import pytest

from provisioner.deletion_check import claims_among

VOLUME = {
    "name": "pvc-1",
    "driver": "fsx.csi.aws.com",
    "policy": "Delete",
    "namespace": "team",
    "claim": "data",
    "deleted": "",
}


@pytest.mark.parametrize(
    ("changes", "claim"),
    [
        ({}, "PersistentVolumeClaim team/data"),
        ({"deleted": "2026-01-01T00:00:00Z"}, "PersistentVolumeClaim team/data"),
        ({"namespace": "", "claim": ""}, "pvc-1"),
        ({"policy": "Retain"}, None),
        ({"driver": ""}, None),  # made by hand, or by a chart
        ({"driver": "ebs.csi.aws.com"}, None),
    ],
)
def test_what_the_driver_made_is_a_claim(changes: dict[str, str], claim: str | None) -> None:
    found = [str(item) for item in claims_among([tuple((VOLUME | changes).values())])]
    assert found == ([] if claim is None else [claim])
