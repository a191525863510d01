"""The helm commands of a release, and what helm knows of it.

``--wait`` is never passed: a release is installed before the cluster has nodes, so its pods stay
Pending until HyperPod's nodes join. ``--rollback-on-failure`` would wait as well. Objects are
written by server-side apply, and the chart's word counts: a field that somebody set by hand is set
back, where helm's default would refuse this upgrade and every later one, rollbacks included.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from provisioner.helm.state import Release, Revision
from provisioner.kubernetes.failures import CommandFailedError
from provisioner.kubernetes.manifest import Manifest, parted
from provisioner.kubernetes.process import ClusterProcess

_OWN_NAMESPACES = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})
_APPLY = ("--server-side=true", "--force-conflicts")


class Releases(Protocol):
    """Knows which releases there are; see `provisioner.kubernetes.listing.ClusterListing`."""

    def has_release(self, name: str, *, namespace: str, timeout_seconds: float) -> bool:
        """Say whether there is a release."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Helm:
    """The helm commands that the release needs.

    Args:
        process: Runs them.
        listing: Tells whether there is a release at all, without running anything.
    """

    process: ClusterProcess
    listing: Releases

    def release(self, name: str, *, namespace: str, timeout_seconds: float) -> Release | None:
        """Return what helm knows of a release, or None when there is none.

        Raises:
            CommandFailedError: helm could not tell.
        """
        if not self.listing.has_release(name, namespace=namespace, timeout_seconds=timeout_seconds):
            return None
        metadata = self._told(
            ["get", "metadata"], name, namespace=namespace, timeout_seconds=timeout_seconds
        )
        history = self._told(
            ["history"], name, namespace=namespace, timeout_seconds=timeout_seconds
        )
        if metadata is None or history is None:
            return None
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
                for entry in sorted(json.loads(history), key=lambda entry: int(entry["revision"]))
            ),
        )

    def current(self, name: str, *, namespace: str, timeout_seconds: float) -> Release | None:
        """Return a release with its last revision alone, whose description is not told.

        Half the work of `release`.

        Raises:
            CommandFailedError: helm could not tell.
        """
        metadata = self._told(
            ["get", "metadata"], name, namespace=namespace, timeout_seconds=timeout_seconds
        )
        if metadata is None:
            return None
        told = json.loads(metadata)
        last = Revision(
            number=told["revision"],
            status=told["status"],
            chart=f"{told['chart']}-{told['version']}",
            description="",
            updated=datetime.fromisoformat(told["deployedAt"]).timestamp(),
        )
        labels = told.get("labels") or {}
        return Release(name=name, namespace=namespace, labels=labels, revisions=(last,))

    def _told(
        self, command: Sequence[str], name: str, *, namespace: str, timeout_seconds: float
    ) -> str | None:
        """Return what helm says of a release, as JSON; None when there is none."""
        arguments = [*command, name, "--namespace", namespace, "--output", "json"]
        try:
            return self.process.run(arguments, timeout_seconds=timeout_seconds)
        except CommandFailedError as error:
            if error.is_not_found:
                return None
            raise

    def render(
        self,
        name: str,
        *,
        namespace: str,
        chart: Path,
        values: Mapping[str, object],
        timeout_seconds: float,
    ) -> Manifest:
        """Return what the chart renders, its CRDs apart, without a call of the API.

        Raises:
            CommandFailedError: The chart does not render.
        """
        target = [name, str(chart), "--namespace", namespace, "--include-crds"]
        arguments = ["template", *target, "--values", str(self._values_file(values))]
        return parted(self.process.run(arguments, timeout_seconds=timeout_seconds))

    def manifest(self, name: str, revision: int, *, namespace: str, timeout_seconds: float) -> str:
        """Return what a revision of the release wrote, as YAML.

        Raises:
            CommandFailedError: helm could not tell.
        """
        target = [name, "--namespace", namespace, "--revision", str(revision)]
        return self.process.run(["get", "manifest", *target], timeout_seconds=timeout_seconds)

    def upgrade(
        self,
        name: str,
        *,
        namespace: str,
        chart: Path,
        values: Mapping[str, object],
        labels: Mapping[str, str],
        description: str,
        take_ownership: bool,
        timeout_seconds: float,
    ) -> None:
        """Install or upgrade a release; returns when the API has taken every object.

        Raises:
            CommandFailedError: helm or the API refused, or time ran out.
        """
        self.process.run(
            upgrade_arguments(
                name,
                namespace=namespace,
                chart=chart,
                values_file=self._values_file(values),
                labels=labels,
                description=description,
                take_ownership=take_ownership,
                timeout_seconds=timeout_seconds,
            ),
            timeout_seconds=timeout_seconds,
        )

    def roll_back(
        self, name: str, revision: int, *, namespace: str, timeout_seconds: float
    ) -> None:
        """Make an earlier revision the current one again.

        Raises:
            CommandFailedError: helm or the API refused, or time ran out.
        """
        self.process.run(
            ["rollback", name, str(revision), "--namespace", namespace, *_APPLY],
            timeout_seconds=timeout_seconds,
        )

    def uninstall(self, name: str, *, namespace: str, timeout_seconds: float) -> None:
        """Remove a release and its objects; one that is gone already is a success.

        Raises:
            CommandFailedError: helm or the API refused, or time ran out.
        """
        try:
            self.process.run(
                ["uninstall", name, "--namespace", namespace], timeout_seconds=timeout_seconds
            )
        except CommandFailedError as error:
            # helm's own --ignore-not-found takes every error in reading for "not found".
            if not error.is_not_found:
                raise

    def _values_file(self, values: Mapping[str, object]) -> Path:
        path = self.process.home / "values.json"
        path.write_text(json.dumps(values))
        return path


def upgrade_arguments(
    name: str,
    *,
    namespace: str,
    chart: Path,
    values_file: Path,
    labels: Mapping[str, str],
    description: str,
    take_ownership: bool,
    timeout_seconds: float,
) -> list[str]:
    """Return helm's arguments for an install or upgrade."""
    arguments = ["upgrade", name, str(chart), "--install", "--namespace", namespace]
    if namespace not in _OWN_NAMESPACES:
        arguments.append("--create-namespace")
    if take_ownership:
        arguments.append("--take-ownership")
    return [
        *arguments,
        *_APPLY,
        *("--values", str(values_file)),
        *("--labels", ",".join(f"{key}={value}" for key, value in sorted(labels.items()))),
        *("--description", description),
        *("--timeout", f"{max(int(timeout_seconds), 1)}s"),
        "--hide-notes",
    ]
