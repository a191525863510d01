"""What the chart of the HyperPod dependencies must be told for nodes of EC2 next to HyperPod's.

Its device plugins for NVIDIA's GPUs and for EFA run on the types that its values list, all of
HyperPod. That of Neuron lists types of EC2 itself.
https://github.com/aws/sagemaker-hyperpod-cli/blob/main/helm_chart/HyperPodHelmChart/values.yaml
"""

from collections.abc import Collection, Sequence
from typing import Any

from hyperpod_cdk.facts.instance_types import InstanceFacts, instance_facts, is_of_hyperpod
from hyperpod_cdk.facts.job_resources import GPU, NEURON

ACCELERATOR_TAINTS = (GPU, NEURON)
"""Keys of the taints of nodes with accelerators, which the plugins of these tolerate."""
_UNHEALTHY = {
    "key": "sagemaker.amazonaws.com/node-health-status",
    "operator": "Equal",
    "value": "Unschedulable",
    "effect": "NoSchedule",
}


def ec2_values(instance_types: Collection[str]) -> dict[str, Any]:
    """Return values with which the plugins run on all nodes that need them; none for HyperPod's."""
    if all(map(is_of_hyperpod, instance_types)):
        return {}
    known = [facts for name in instance_types if (facts := instance_facts(name))]
    gpus = _names([each for each in known if each.accelerator and each.accelerator.kind == "GPU"])
    fabric = _names([each for each in known if each.efa_interfaces])
    return {
        **({"nvidia-device-plugin": {"affinity": _affinity(gpus)}} if gpus else {}),
        **({"aws-efa-k8s-device-plugin": _efa(fabric)} if fabric else {}),
    }


def _names(known: Sequence[InstanceFacts]) -> list[str]:
    return sorted(each.instance_type for each in known)


def _affinity(types: Sequence[str]) -> dict[str, Any]:
    is_one = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": types}
    terms = [{"matchExpressions": [is_one]}]
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}
        }
    }


def _efa(types: Sequence[str]) -> dict[str, Any]:
    keys = ("CriticalAddonsOnly", "aws.amazon.com/efa", *ACCELERATOR_TAINTS)
    return {
        "supportedInstanceLabels": {"values": types},
        # A list of values takes the place of the chart's, which has all but the taints.
        "tolerations": [*({"key": key, "operator": "Exists"} for key in keys), _UNHEALTHY],
    }
