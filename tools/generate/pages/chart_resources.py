"""Write charts/training/files/resources.json: what a pod requests on each accelerated type."""

import json
from collections.abc import Mapping
from pathlib import Path

from hyperpod_cdk.facts.instance_types import ec2_types, instance_types, is_accelerated
from hyperpod_cdk.facts.job_resources import job_resources
from tools.generate import REPOSITORY

TARGET = REPOSITORY / "charts" / "training" / "files" / "resources.json"


def render() -> Mapping[Path, str]:
    """Return the file, a line for each type."""
    rows = {
        name: {
            "accelerator": found.accelerator,
            "accelerators": found.accelerators,
            "efa": found.efa,
            "hugepages2Mi": f"{found.hugepages_2mi_mib}Mi" if found.hugepages_2mi_mib else "",
            "cpu": found.cpu,
            "memory": f"{found.memory_gib}Gi",
        }
        for name in (*instance_types(), *ec2_types())
        if is_accelerated(name) and (found := job_resources(name)) is not None
    }
    lines = ",\n".join(f' "{name}": {json.dumps(row)}' for name, row in sorted(rows.items()))
    return {TARGET: f"{{\n{lines}\n}}\n"}
