"""Which pods every node of a type runs."""

import pytest

from hyperpod_cdk.config.daemon_sets import daemon_sets
from hyperpod_cdk.facts.instance_types import instance_facts
from tests.support.rule_cases import CPU, GPU, TRAINIUM, config, group

NO_PLUGINS = {"nvidia_device_plugin": False, "efa_device_plugin": False}
EVERYWHERE = {"aws-node", "kube-proxy", "eks-pod-identity-agent"}


@pytest.mark.parametrize(
    ("instance_type", "components", "names"),
    [
        (CPU, {}, set()),
        (
            GPU,
            {},
            {"nvidia-device-plugin", "health-monitoring-agent", "aws-efa-k8s-device-plugin"},
        ),
        (GPU, NO_PLUGINS, {"health-monitoring-agent"}),
        (
            TRAINIUM,
            NO_PLUGINS,
            {"neuron-device-plugin", "health-monitoring-agent-non-nvidia"},
        ),
        ("ml.g4dn.xlarge", {}, set()),
    ],
)
@pytest.mark.parametrize("storage", [{}, None])
def test_daemon_sets(
    instance_type: str,
    components: dict[str, bool],
    names: set[str],
    storage: dict[str, object] | None,
) -> None:
    facts = instance_facts(instance_type)
    assert facts is not None
    deployment = config(group(instance_type), helm={"components": components}, storage=storage)

    found = daemon_sets(facts, config=deployment)

    assert set(found) == EVERYWHERE | names | (set() if storage is None else {"fsx-csi-node"})
    assert len(set(found)) == len(found)
