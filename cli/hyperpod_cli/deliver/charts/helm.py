"""Runs the helm binary."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from hyperpod_cli.deliver.charts.commands import ChartError, run
from hyperpod_cli.deliver.layer_binaries import local_binary

# The defaults of a deployment; names and namespaces in the rendered manifest depend on them.
RELEASE = "hyperpod-dependencies"
NAMESPACE = "kube-system"


def helm_binary() -> Path:
    """Return the helm of the Lambda layer package, or on other systems the one on PATH.

    Raises:
        ChartError: Another system, and no helm on PATH.
    """
    try:
        return local_binary("helm")
    except FileNotFoundError as error:
        raise ChartError(f"{error}: install helm 4") from None


@dataclass(frozen=True, kw_only=True, slots=True)
class Helm:
    """Helm with its own home, so that it uses no repositories or plug-ins of this machine.

    Attributes:
        binary: The executable.
        home: Empty directory for its caches.
    """

    binary: Path
    home: Path

    def version(self) -> str:
        """Return its version, as in v4.1.4."""
        return self._run("version", "--template", "{{.Version}}").strip()

    def package(self, chart: Path, *, into: Path) -> Path:
        """Package a chart directory, `.helmignore` applied; its dependencies must be there.

        Raises:
            CommandError: helm refused.
        """
        self._run("package", chart, "--destination", into)
        return next(into.glob("*.tgz"))

    def pull(self, *, name: str, version: str, repository: str, into: Path) -> Path:
        """Download one chart archive.

        Raises:
            CommandError: It cannot be reached, or has no such chart or version.
        """
        into.mkdir(parents=True)
        self._run(
            "pull",
            *_address(name, repository),
            "--version",
            version,
            "--destination",
            into,
            timeout_seconds=180,
        )
        return next(into.glob("*.tgz"))

    def newest_version(self, *, name: str, repository: str) -> str:
        """Return the newest version of a chart in a chart repository.

        Raises:
            CommandError: It cannot be reached, or has no such chart.
        """
        shown = self._run("show", "chart", *_address(name, repository))
        return str(yaml.safe_load(shown)["version"])

    def template(
        self,
        chart: Path,
        *,
        values: Mapping[str, Any],
        release: str = RELEASE,
        namespace: str = NAMESPACE,
    ) -> str:
        """Render a chart, CRDs included.

        Args:
            chart: The chart.
            values: Merged over the chart's own.
            release: Name of the release.
            namespace: Its namespace.

        Raises:
            CommandError: It does not render.
        """
        file = self.home / "values.json"
        file.write_text(json.dumps(values))
        return self._run(
            "template",
            release,
            chart,
            "--namespace",
            namespace,
            "--include-crds",
            "--values",
            file,
        )

    def _run(self, *arguments: str | Path, timeout_seconds: int = 120) -> str:
        environment = {
            "HELM_CACHE_HOME": str(self.home / "cache"),
            "HELM_CONFIG_HOME": str(self.home / "config"),
            "HELM_DATA_HOME": str(self.home / "data"),
        }
        return run(
            [self.binary, *arguments],
            cwd=self.home,
            environment=environment,
            timeout_seconds=timeout_seconds,
        )


def _address(name: str, repository: str) -> list[str]:
    """Return how helm names a chart in a repository; an OCI registry has no index."""
    if repository.startswith("oci://"):
        return [f"{repository.rstrip('/')}/{name}"]
    return [name, "--repo", repository]
