"""The helm commands of a release, and what helm knows of it.

``--wait`` is never passed: a release is installed before the cluster has nodes, so its pods stay
Pending until HyperPod's nodes join. ``--rollback-on-failure`` would wait as well. Objects are
written by server-side apply, helm 4's default.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from provisioner.helm_process import HelmFailedError, HelmProcess
from provisioner.helm_release_state import Release, Revision

_OWN_NAMESPACES = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Helm:
    """The helm commands that the release needs.

    Args:
        process: Runs them.
    """

    process: HelmProcess

    def release(self, name: str, *, namespace: str, timeout_seconds: float) -> Release | None:
        """Return what helm knows of a release, or None when there is none.

        Raises:
            HelmFailedError: helm could not tell.
        """
        target = [name, "--namespace", namespace, "--output", "json"]
        try:
            history = self.process.run(["history", *target], timeout_seconds=timeout_seconds)
            metadata = self.process.run(
                ["get", "metadata", *target], timeout_seconds=timeout_seconds
            )
        except HelmFailedError as error:
            if error.is_not_found:
                return None
            raise
        return Release(
            name=name,
            namespace=namespace,
            labels=json.loads(metadata).get("labels") or {},
            revisions=tuple(
                Revision(
                    number=entry["revision"],
                    status=entry["status"],
                    chart=entry["chart"],
                    description=entry["description"],
                    updated=datetime.fromisoformat(entry["updated"]).timestamp(),
                )
                for entry in sorted(json.loads(history), key=lambda entry: entry["revision"])
            ),
        )

    def upgrade(
        self,
        name: str,
        *,
        namespace: str,
        chart: Path,
        values: Mapping[str, object],
        labels: Mapping[str, str],
        description: str,
        timeout_seconds: float,
    ) -> None:
        """Install or upgrade a release; returns when the API has taken every object.

        Raises:
            HelmFailedError: helm or the API refused, or time ran out.
        """
        values_file = self.process.home / "values.json"
        values_file.write_text(json.dumps(values))
        self.process.run(
            upgrade_arguments(
                name,
                namespace=namespace,
                chart=chart,
                values_file=values_file,
                labels=labels,
                description=description,
                timeout_seconds=timeout_seconds,
            ),
            timeout_seconds=timeout_seconds,
        )

    def roll_back(
        self, name: str, revision: int, *, namespace: str, timeout_seconds: float
    ) -> None:
        """Make an earlier revision the current one again.

        Raises:
            HelmFailedError: helm or the API refused, or time ran out.
        """
        self.process.run(
            ["rollback", name, str(revision), "--namespace", namespace],
            timeout_seconds=timeout_seconds,
        )

    def uninstall(self, name: str, *, namespace: str, timeout_seconds: float) -> None:
        """Remove a release and its objects; one that is gone already is a success.

        Raises:
            HelmFailedError: helm or the API refused, or time ran out.
        """
        try:
            self.process.run(
                ["uninstall", name, "--namespace", namespace], timeout_seconds=timeout_seconds
            )
        except HelmFailedError as error:
            # helm's own --ignore-not-found takes every error in reading for "not found".
            if not error.is_not_found:
                raise


def upgrade_arguments(
    name: str,
    *,
    namespace: str,
    chart: Path,
    values_file: Path,
    labels: Mapping[str, str],
    description: str,
    timeout_seconds: float,
) -> list[str]:
    """Return helm's arguments for an install or upgrade."""
    arguments = ["upgrade", name, str(chart), "--install", "--namespace", namespace]
    if namespace not in _OWN_NAMESPACES:
        arguments.append("--create-namespace")
    return [
        *arguments,
        *("--values", str(values_file)),
        *("--labels", ",".join(f"{key}={value}" for key, value in sorted(labels.items()))),
        *("--description", description),
        *("--timeout", f"{max(int(timeout_seconds), 1)}s"),
        "--hide-notes",
    ]
