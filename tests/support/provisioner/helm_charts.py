"""Small charts, made in memory."""

import gzip
import io
import tarfile
from collections.abc import Mapping

CHART = {
    "Chart.yaml": "apiVersion: v2\nname: deps\nversion: {version}\n",
    "values.yaml": "replicas: 1\nbroken: false\n",
    "templates/namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {{name: kubeflow}}\n",
    "templates/operator.yaml": """
apiVersion: apps/v1
kind: Deployment
metadata: {{name: operator, namespace: kubeflow, labels: {{version: "{version}"}}}}
spec:
  replicas: {{{{ .Values.replicas }}}}
  selector: {{matchLabels: {{app: operator}}}}
  template:
    metadata: {{labels: {{app: operator}}}}
    spec: {{containers: [{{name: c, image: "example/operator:{version}"}}]}}
""",
    "templates/refused.yaml": '{{{{ if .Values.broken }}}}{{{{ fail "no such" }}}}{{{{ end }}}}',
    "crds/job.yaml": """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: jobs.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{kind: Job, plural: jobs, singular: job}}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {{openAPIV3Schema: {{type: object}}}}
""",
}


def definition(plural: str, kind: str, *versions: str, note: str = "") -> str:
    """Return a CustomResourceDefinition; the last version is the stored one.

    Args:
        plural: Name of the resource, in the group `example.com`.
        kind: Its kind.
        versions: Names of the versions.
        note: Goes into the schemas, to tell one definition from another.
    """
    entries = "".join(
        f"""
    - name: {version}
      served: true
      storage: {str(version == versions[-1]).lower()}
      schema: {{openAPIV3Schema: {{type: object, description: "{note}",
        x-kubernetes-preserve-unknown-fields: true}}}}"""
        for version in versions
    )
    return f"""
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{kind: {kind}, plural: {plural}, singular: {kind.lower()}}}
  versions:{entries}
"""


def chart_files(version: str, changes: Mapping[str, str | None] | None = None) -> dict[str, bytes]:
    """Return the files of the chart; `changes` replace, add, or with None leave out files."""
    files: dict[str, str | None] = {
        path: text.format(version=version) for path, text in CHART.items()
    }
    return {
        path: text.encode()
        for path, text in {**files, **(changes or {})}.items()
        if text is not None
    }


def packaged(version: str, changes: Mapping[str, str | None] | None = None) -> bytes:
    """Return the chart as an archive."""
    files = chart_files(version, changes)
    return tgz({f"deps/{path}": content for path, content in files.items()})


def tgz(files: Mapping[str, bytes], *members: tarfile.TarInfo) -> bytes:
    """Return an archive of files, and of members that hold nothing but zeros."""
    buffer = io.BytesIO()
    # A fixed time, so that the same files make the same bytes.
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w|") as archive,
    ):
        for path, content in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for member in members:
            archive.addfile(member, io.BytesIO(bytes(member.size)))
    return buffer.getvalue()
