"""Write facts/managed_grafana.json of the library from CloudFormation's resource schemas."""

import importlib.metadata
import json
from collections.abc import Mapping
from pathlib import Path

from tools.generate import REPOSITORY
from tools.generate.facts.native_cluster import schemas_by_region

TARGET = REPOSITORY / "constructs" / "hyperpod_cdk" / "facts" / "managed_grafana.json"
TYPE = "AWS::Grafana::Workspace"


def render() -> Mapping[Path, str]:
    """Return the file as the installed cfn-lint gives it."""
    content = {
        "cfn_lint": importlib.metadata.version("cfn-lint"),
        "regions": [*schemas_by_region(TYPE)],
    }
    return {TARGET: json.dumps(content, indent=1, sort_keys=True) + "\n"}
