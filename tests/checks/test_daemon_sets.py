"""Which pods every node of a type runs."""

import pytest

from hyperpod_cdk.checks.daemon_sets import daemon_sets
from hyperpod_cdk.helm.hyperpod_components import HyperPodComponents
from hyperpod_cdk.facts.instance_types import instance_facts
from tests.checks.deployments import CPU, GPU, TRAINIUM, deployment

NO_PLUGINS = HyperPodComponents(nvidia_device_plugin=False, efa_device_plugin=False)
EVERYWHERE = {"aws-node", "kube-proxy", "eks-pod-identity-agent"}


@pytest.mark.parametrize(
    ("instance_type", "components", "names"),
    [
        (CPU, HyperPodComponents(), set()),
        (
            GPU,
            HyperPodComponents(),
            {"nvidia-device-plugin", "health-monitoring-agent", "aws-efa-k8s-device-plugin"},
        ),
        (GPU, NO_PLUGINS, {"health-monitoring-agent"}),
        (
            TRAINIUM,
            NO_PLUGINS,
            {"neuron-device-plugin", "health-monitoring-agent-non-nvidia"},
        ),
        ("ml.g4dn.xlarge", HyperPodComponents(), set()),
    ],
)
@pytest.mark.parametrize("storage", [True, False])
def test_daemon_sets(
    instance_type: str, components: HyperPodComponents, names: set[str], storage: bool
) -> None:
    facts = instance_facts(instance_type)
    assert facts is not None

    found = daemon_sets(facts, deployment=deployment(components=components, storage=storage))

    assert set(found) == EVERYWHERE | names | ({"fsx-csi-node"} if storage else set())
    assert len(set(found)) == len(found)
