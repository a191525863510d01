"""A small copy of what the official chart is made of, as a git repository and archives on disk."""

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from hyperpod_cli.helm.layer_binaries import layer_binaries
from tests.support.patience import PATIENCE_SECONDS

PATH = "helm_chart/HyperPodHelmChart"
_REGIONS = """\
{{- define "agent.image" -}}
{{- $accounts := dict
  "us-east-1" "111122223333"
  "us-west-2" "444455556666"
-}}
{{ index $accounts (.Values.region | default "us-east-1") }}.dkr/agent:%s
{{- end }}
"""
_CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: %s, namespace: {{ .Release.Namespace }}}
"""
_AGENT = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: health-monitoring-agent, namespace: aws-hyperpod}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: '{{ include "agent.image" . }}'}]}
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one command gave."""

    code: int
    output: str
    error: str


Command = Callable[..., Outcome]


class Upstream:
    """A git repository with an umbrella chart, and a folder with its dependencies' archives."""

    def __init__(self, directory: Path, *, template: "Upstream | None" = None) -> None:
        """Make one in a directory; from a template, which is faster."""
        self.repository = directory / "upstream"
        self.archives = directory / "archives"
        self.chart = self.repository / PATH
        self._home = directory / "home"
        self.commit_id: str = ""
        self.requirements: list[dict[str, str]] = [
            remote("cert-manager", "v1.18.2", "oci://quay.invalid/charts", "cert-manager.enabled"),
            remote("nvidia-device-plugin", "0.16.1", "https://nvidia.invalid", "nvidia.enabled"),
            remote("aws-efa-k8s-device-plugin", "0.5.20", "https://aws.invalid", "efa.enabled"),
            local("health-monitoring-agent", "health-monitoring-agent.enabled"),
            local("gpu-operator", "gpu-operator.enabled"),
            local("namespaced-role-and-bindings", "namespaced-role-and-bindings.enabled"),
        ]
        self.values: dict[str, Any] = {
            "cert-manager": {"enabled": False},
            "gpu-operator": {"enabled": False},
            "namespaced-role-and-bindings": {"enabled": False},
        }
        if template is not None:
            shutil.copytree(template.repository.parent, directory, dirs_exist_ok=True)
            self.commit_id = template.commit_id
            return
        for folder in (self.chart / "templates", self.archives, self._home):
            folder.mkdir(parents=True)
        self._git("init", "--quiet", "--initial-branch=main")
        self._write_components()
        self.archive("nvidia-device-plugin", "0.16.1")
        self.archive("aws-efa-k8s-device-plugin", "v0.5.20")
        self.commit()

    def commit(self) -> str:
        """Commit everything as it is now; the commit's full id."""
        chart = {"name": "hyperpod-helm-chart", "version": "0.1.0", "appVersion": "1.16.0"}
        write_yaml(
            self.chart / "Chart.yaml",
            {"apiVersion": "v2", **chart, "dependencies": self.requirements},
        )
        write_yaml(self.chart / "values.yaml", self.values)
        self._git("add", "--all", "--force")
        identity = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
        self._git(*identity, "commit", "--quiet", "--allow-empty", "-m", "A commit")
        self.commit_id = self._git("rev-parse", "HEAD").strip()
        return self.commit_id

    def set_agent_tag(self, tag: str) -> None:
        templates = self.chart / "charts/health-monitoring-agent/templates"
        (templates / "_helpers.tpl").write_text(_REGIONS % tag)

    def archive(self, name: str, version: str, *, folder: Path | None = None) -> Path:
        """Package a chart that renders one ConfigMap into the folder of archives."""
        source = self._home / "src" / f"{name}-{version}"
        write_chart(source, name=name, version=version, template=_CONFIG_MAP % name)
        return self._package(source, into=folder or self.archives)

    def pins(self, file: Path, **changes: Any) -> Path:
        """Write a pin file for this repository; digests not recorded."""
        content = {
            "chart": {
                "git_url": str(self.repository),
                "git_commit": self.commit_id,
                "path": PATH,
            },
            "package_sha256": "not-recorded",
            "dependencies": [
                pin("nvidia-device-plugin", "0.16.1"),
                pin("aws-efa-k8s-device-plugin", "0.5.20"),
            ],
            "left_out": ["cert-manager"],
            **changes,
        }
        file.write_text("# A comment that stays.\n" + yaml.safe_dump(content, sort_keys=False))
        return file

    def helm(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [layer_binaries().helm, *arguments],
            env={"HOME": str(self._home)},
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )

    def _write_components(self) -> None:
        charts = self.chart / "charts"
        agent = charts / "health-monitoring-agent"
        write_chart(agent, name="health-monitoring-agent", version="0.1.0", template=_AGENT)
        self.set_agent_tag("stale")
        self._package(agent, into=charts)  # the stale archive beside the directory
        self.set_agent_tag("1.0")
        write_chart(charts / "gpu-operator", name="gpu-operator", version="0.1.0", template="")
        write_yaml(charts / "gpu-operator/values.yaml", {"gpu-operator": {"enabled": True}})
        gpu_operator = remote(
            "gpu-operator", "v26.3.1", "https://ngc.invalid", "gpu-operator.enabled"
        )
        chart = yaml.safe_load((charts / "gpu-operator/Chart.yaml").read_text())
        write_yaml(charts / "gpu-operator/Chart.yaml", {**chart, "dependencies": [gpu_operator]})
        roles = "namespaced-role-and-bindings"
        write_chart(charts / roles, name=roles, version="0.1.0", template=_CONFIG_MAP % "roles")

    def _package(self, chart: Path, *, into: Path) -> Path:
        done = self.helm("package", chart, "--destination", into)
        assert done.returncode == 0, done.stderr
        return Path(done.stdout.rpartition(": ")[2].strip())

    def _git(self, *arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments],
            cwd=self.repository,
            env={"HOME": str(self._home), "GIT_CONFIG_NOSYSTEM": "1", "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=True,
        ).stdout


def remote(name: str, version: str, repository: str, condition: str) -> dict[str, str]:
    return {"name": name, "version": version, "repository": repository, "condition": condition}


def local(name: str, condition: str) -> dict[str, str]:
    return remote(name, "0.1.0", f"file://charts/{name}", condition)


def pin(name: str, version: str, **changes: str) -> dict[str, str]:
    defaults = {"repository": "https://charts.invalid", "sha256": "not-recorded"}
    return {"name": name, "version": version, **defaults, **changes}


def write_yaml(file: Path, content: Mapping[str, Any]) -> None:
    file.write_text(yaml.safe_dump(dict(content), sort_keys=False))


def write_chart(folder: Path, *, name: str, version: str, template: str) -> None:
    (folder / "templates").mkdir(parents=True, exist_ok=True)
    write_yaml(folder / "Chart.yaml", {"apiVersion": "v2", "name": name, "version": version})
    (folder / "templates" / "object.yaml").write_text(template)


def read_json(file: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(file.read_text())
    return content
