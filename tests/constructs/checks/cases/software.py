"""Rules on the components of Kubernetes, what they run on and who may use it."""

from hyperpod_cdk.checks.eks.deep_health_check_component import deep_health_check_component
from hyperpod_cdk.checks.secret_values import secret_values
from hyperpod_cdk.checks.unlisted_types import unlisted_types
from tests.support.rule_cases import (
    CHECKS,
    ERROR,
    GPU,
    TRAINIUM,
    UNDESCRIBED,
    WARNING,
    Cases,
    config,
    group,
    in_group,
)

_NO_PLUGINS = {
    "components": {
        "nvidia_device_plugin": False,
        "neuron_device_plugin": False,
        "health_monitoring_agent": False,
    },
    "i_know_this_breaks_resiliency": True,
}
_NO_DEEP_HEALTH_CHECK = {
    "components": {
        "health_monitoring_agent": False,
        "deep_health_check": False,
        "job_auto_restart": False,
    },
    "i_know_this_breaks_resiliency": True,
}

CASES: Cases = {}
CASES[unlisted_types] = {
    "listed": config(group(GPU), group(TRAINIUM, index=1), group(index=2)),
    "of an undescribed type": config(group(UNDESCRIBED)),
    "restricted": config(restricted=[group("ml.g7.2xlarge", index=1)]),
    "with the user's plugins": config(group("ml.g4dn.xlarge"), helm=_NO_PLUGINS),
    "GPUs": (config(group("ml.g4dn.xlarge")), in_group(WARNING, "instance_type")),
    "Trainium, as the second type": (
        config(group(None, instance_types=[TRAINIUM, "ml.trn2.3xlarge"])),
        in_group(WARNING, "instance_types[1]"),
    ),
}


CASES[deep_health_check_component] = {
    "on": config(group(GPU, deep_health_checks=CHECKS)),
    "off, and not needed": config(group(GPU), helm=_NO_DEEP_HEALTH_CHECK),
    "off": (
        config(group(GPU, deep_health_checks=CHECKS), helm=_NO_DEEP_HEALTH_CHECK),
        in_group(ERROR, "deep_health_checks"),
    ),
    "off, in a restricted group": (
        config(
            restricted=[group(GPU, index=1, deep_health_checks=CHECKS)], helm=_NO_DEEP_HEALTH_CHECK
        ),
        (ERROR, "cluster.restricted_instance_groups[0].deep_health_checks"),
    ),
}

_NO_SECRETS = {
    "existingSecret": "grafana",
    "secretName": "grafana",
    "tokenTTL": "1h",
    "password": "",
    "automountServiceAccountToken": True,
    "env": [{"name": "REGION", "value": "us-west-2"}],
}
_SECRETS = {
    "grafana": {"adminPassword": "hunter2", "apiKey": "hunter2", "TOKEN": "hunter2"},
    "env": [{"name": "HF_TOKEN", "value": "hunter2"}],
    "client-secret": "hunter2",
}

CASES[secret_values] = {
    "none": config(helm={"values": _NO_SECRETS}),
    "in every form": (
        config(helm={"values": _SECRETS}),
        (WARNING, "helm.values.grafana.adminPassword"),
        (WARNING, "helm.values.grafana.apiKey"),
        (WARNING, "helm.values.grafana.TOKEN"),
        (WARNING, "helm.values.env[0].value"),
        (WARNING, "helm.values.client-secret"),
    ),
}
