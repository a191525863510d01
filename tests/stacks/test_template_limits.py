"""The largest cluster's template and properties stay under the limits on their way."""

from typing import Any

from tests.conftest import Assemble, Configure
from tests.support.template_view import TemplateView

GROUPS = 100
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
MOST_TEMPLATE_BYTES = 1_000_000
# https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html: input of an execution,
# which has the old and the new properties.
MOST_EVENT_BYTES = 262_144


def group(number: int) -> dict[str, Any]:
    return {
        "name": f"{'worker-group-':w<50}{number:03}",
        "instance_type": "ml.m5.2xlarge",
        "instance_count": 6758,
        # No VPC of the default configuration holds 675,800 nodes.
        "override_vpc": {"subnet_ids": [f"subnet-{number:017x}"]},
        "labels": {"team": "research", "example.com/tier": f"training-{number}"},
    }


def test_a_hundred_groups(configure: Configure, assemble: Assemble) -> None:
    config = configure({"cluster": {"instance_groups": [group(n) for n in range(GROUPS)]}})
    name = f"{config.name}-hyperpod"
    assembly = assemble(config)

    assert len(assembly.texts()[name].encode()) < MOST_TEMPLATE_BYTES
    properties = TemplateView(assembly.templates()[name]).one("Custom::HyperPodCluster")
    assert len(str(properties).encode()) * 2 < MOST_EVENT_BYTES
