"""How nodes and Kubernetes are reached: Session Manager, and the kubeconfig."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from hyperpod_cdk.schema.given_file import given_text
from hyperpod_cli.operate.clusters import ClusterNode, DescribedCluster
from hyperpod_cli.terminal.atomic_file import replace_file
from hyperpod_cli.terminal.errors import OpsError

_AWS = "aws"
_PLUGIN = "session-manager-plugin"
_TOOLS = {
    _AWS: "https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html",
    _PLUGIN: (
        "https://docs.aws.amazon.com/systems-manager/latest/userguide/"
        "session-manager-working-with-install-plugin.html"
    ),
}


def session_command(cluster: DescribedCluster, node: ClusterNode, *, region: str) -> list[str]:
    """Return the command that opens a shell on a node."""
    target = f"sagemaker-cluster:{cluster.id}_{node.group}-{node.id}"
    return [_AWS, "ssm", "start-session", "--target", target, "--region", region]


def require_tools() -> None:
    """Refuse to begin without the tools that a session takes."""
    for tool, page in _TOOLS.items():
        if shutil.which(tool) is None:
            raise OpsError(f"{tool}: is not on the PATH; install it: {page}")


_API_VERSION = "client.authentication.k8s.io/v1beta1"
_LISTS = ("clusters", "users", "contexts")


def kubeconfig_file(environment: Mapping[str, str]) -> Path:
    """Return the file that is changed: the first of KUBECONFIG, or that in the home folder.

    https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
    """
    files = [name for name in environment.get("KUBECONFIG", "").split(os.pathsep) if name]
    return Path(files[0]).expanduser() if files else Path.home() / ".kube" / "config"


def missing_tools() -> list[str]:
    """Return which of the tools that use a kubeconfig are not installed."""
    return [tool for tool in ("kubectl", "aws") if shutil.which(tool) is None]


def add_context(path: Path, cluster: Mapping[str, Any], *, region: str, alias: str | None) -> str:
    """Put a context into a kubeconfig and make it the current one; return its name.

    The name is `alias`, by default the cluster's ARN. What else is in the file stays, but for
    comments.
    """
    document = _read(path)
    arn = str(cluster["arn"])
    context = alias or arn
    entries = {
        "clusters": {
            "name": arn,
            "cluster": {
                "server": cluster["endpoint"],
                "certificate-authority-data": cluster["certificateAuthority"]["data"],
            },
        },
        "users": {"name": arn, "user": {"exec": _token(str(cluster["name"]), region=region)}},
        "contexts": {"name": context, "context": {"cluster": arn, "user": arn}},
    }
    for key, entry in entries.items():
        listed = document[key]
        document[key] = [*(item for item in listed if item.get("name") != entry["name"]), entry]
    document["current-context"] = context
    try:
        replace_file(path, yaml.safe_dump(document, sort_keys=False))
    except OSError as error:
        raise OpsError(f"{path}: cannot be written ({error.strerror}); set KUBECONFIG") from None
    return context


def _token(name: str, *, region: str) -> dict[str, Any]:
    command = f"--region {region} eks get-token --cluster-name {name} --output json"
    profile = os.environ.get("AWS_PROFILE")
    return {
        "apiVersion": _API_VERSION,
        "command": "aws",
        "args": command.split(),
        **({"env": [{"name": "AWS_PROFILE", "value": profile}]} if profile else {}),
    }


def _read(path: Path) -> dict[str, Any]:
    """Return what a kubeconfig holds; an empty one for a file that is not there."""
    try:
        document = yaml.safe_load(given_text(path))
    except FileNotFoundError:
        document = {}
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        raise OpsError(f"{path}: cannot be read as YAML; fix it, or set KUBECONFIG") from None
    filled = {"apiVersion": "v1", "kind": "Config", **dict.fromkeys(_LISTS), **_mapping(document)}
    if any(not _is_list_of_mappings(filled[key]) for key in _LISTS) or filled["kind"] != "Config":
        raise OpsError(f"{path}: is not a kubeconfig; fix it, or set KUBECONFIG")
    return {**filled, **{key: filled[key] or [] for key in _LISTS}}


def _mapping(document: object) -> dict[str, Any]:
    if document is None:
        return {}
    return document if isinstance(document, dict) else {"kind": None}


def _is_list_of_mappings(value: object) -> bool:
    return value is None or (
        isinstance(value, list) and all(isinstance(item, dict) for item in value)
    )
