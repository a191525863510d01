"""The statuses that decide something are HyperPod's."""

from enum import StrEnum

import botocore.session
import pytest

from hyperpod_shared.clusters import ClusterStatus, GroupStatus, SoftwareUpdateStatus


@pytest.mark.parametrize(
    ("shape", "statuses"),
    [
        ("ClusterStatus", ClusterStatus),
        ("InstanceGroupStatus", GroupStatus),
        ("SoftwareUpdateStatus", SoftwareUpdateStatus),
    ],
)
def test_statuses_are_in_botocores_model(shape: str, statuses: type[StrEnum]) -> None:
    model = botocore.session.get_session().get_service_model("sagemaker")
    assert set(statuses) <= set(model.shape_for(shape).metadata["enum"])
