"""helm and kubectl: argv lists only, one folder for their files, stopped before the function.

The binaries come from the kubectl layer (AWS CDK's `lambda-layer-kubectl`).
"""

import json
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hyperpod_shared.errors import ProvisioningError
from provisioner.kubernetes.failures import CommandFailedError, CommandTimeoutError, last_lines
from provisioner.kubernetes.manifest import Object

STOP_GRACE_SECONDS = 10.0
"""How long helm may take to record a cancelled operation as failed after SIGTERM."""
_SHORTEST_SECONDS = 1.0

_LAYERS = Path("/opt")


class Run(Protocol):
    """Runs one binary. The one seam between the provisioner and its commands."""

    def __call__(self, arguments: Sequence[str], *, timeout_seconds: float) -> str:
        """Return what the binary printed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterProcess:
    """A binary of the kubectl layer, bound to one cluster and one fresh folder.

    Attributes:
        home: An empty folder for everything that it writes; the caller removes it.
        kubeconfig: Writes a kubeconfig with a fresh token and returns its path.
    """

    binary: Path
    home: Path
    kubeconfig: Callable[[], Path]
    environment: Mapping[str, str]

    def run(self, arguments: Sequence[str], *, timeout_seconds: float) -> str:
        """Run the binary and return what it printed.

        It is stopped after `timeout_seconds`, at least 1 s.

        Raises:
            CommandFailedError: It ended with an error or had to be stopped.
        """
        environment = {
            **self.environment,
            "HOME": str(self.home),
            "TMPDIR": str(self.home),
            "KUBECONFIG": str(self.kubeconfig()),
            "HELM_CACHE_HOME": str(self.home / "cache"),
            "HELM_CONFIG_HOME": str(self.home / "config"),
            "HELM_DATA_HOME": str(self.home / "data"),
        }
        process = subprocess.Popen(  # noqa: S603 - an argv list, no shell; the binary is the layer's
            [str(self.binary), *arguments],
            env=environment,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
        command = f"{self.binary.name} {arguments[0]}"
        try:
            output, errors = process.communicate(timeout=max(timeout_seconds, _SHORTEST_SECONDS))
        except subprocess.TimeoutExpired:
            errors = _stop(process)
            raise CommandTimeoutError(
                f"{command} did not end within {timeout_seconds:.0f} s and was stopped."
                f" {last_lines(errors)}"
            ) from None
        if process.returncode < 0:
            raise CommandFailedError(
                f"{command} was killed by signal {-process.returncode}; the function may need more "
                f"memory. {last_lines(errors)}"
            )
        if process.returncode > 0:
            raise CommandFailedError(last_lines(errors) or f"exit status {process.returncode}")
        return output


def layer_binary(name: str, environment: Mapping[str, str]) -> Path:
    """Return a binary of the kubectl layer, `helm` or `kubectl`.

    `_LAMBDA_LAYERS_DIRS` may name folders that hold layers, for a local Lambda.

    Raises:
        ProvisioningError: No layer has it.
    """
    folders = [
        Path(folder)
        for folder in environment.get("_LAMBDA_LAYERS_DIRS", "").split(os.pathsep)
        if folder
    ]
    for folder in [_LAYERS, *folders]:
        if (folder / name / name).is_file():
            return folder / name / name
    raise ProvisioningError(
        f"The provisioner function has no {name} binary ({_LAYERS / name / name})",
        next_step="Attach the kubectl layer for the EKS version to the function.",
    )


def _stop(process: subprocess.Popen[str]) -> str:
    """Let helm record the failure; a killed helm would leave the release pending."""
    process.terminate()
    try:
        return process.communicate(timeout=STOP_GRACE_SECONDS)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[1]


FIELD_MANAGER = "hyperpod-cdk"
"""The server-side apply field manager of what `Kubectl.apply` writes."""

CELL_END, ROW_END = "\x1f", "\x1e"
"""What ends a cell and a row of a table: characters that no YAML file holds."""
_UNUSED_ANNOTATION = "hyperpod-cdk/unused"
_STOP_AFTER_TIMEOUT_SECONDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubectl:
    """kubectl for one cluster. Each method raises CommandFailedError if it ends with an error.

    `timeout_seconds` says how long a command may take now; `home` is a folder for the files that it
    reads.
    """

    run: Run
    home: Path
    timeout_seconds: Callable[[], float]

    def parse(self, manifest: str) -> list[Object]:
        """Return the objects of a YAML manifest, without a call of the API."""
        if not manifest.strip():
            return []
        # Removing an annotation that no object has is kubectl's only way to just print objects.
        arguments = ["annotate", "--local", "--filename", str(self._file(manifest))]
        output = self._run([*arguments, "--output=json", f"{_UNUSED_ANNOTATION}-"])
        return [_without_empty_annotations(item) for item in _json_stream(output)]

    def live(self, objects: Sequence[Object]) -> list[Object]:
        """Return those of the objects that exist, as the cluster has them."""
        if not objects:
            return []
        arguments = ["get", "--filename", str(self._keys_file(objects)), "--ignore-not-found"]
        output = self._run([*arguments, "--show-managed-fields", "--output=json"])
        return list(_flat([json.loads(output)])) if output.strip() else []

    def objects(self, kind: str, *, namespace: str) -> list[Object]:
        """Return all objects of a kind in a namespace; the namespace is ignored for `nodes`."""
        output = self._run(["get", kind, "--namespace", namespace, "--output=json"])
        return list(_flat([json.loads(output)]))

    def table(
        self, kinds: Sequence[str], columns: Sequence[str], *, namespace: str | None = None
    ) -> list[tuple[str, ...]]:
        """Return some fields of all objects of some kinds: far less than whole objects.

        Columns are paths such as `.metadata.name`, kinds such as `jobs.batch`. Without a namespace,
        the objects are those of all.
        """
        where = ["--all-namespaces"] if namespace is None else ["--namespace", namespace]
        # Users choose some of the texts, which may be empty or have several lines.
        cells = f'{{"{CELL_END}"}}'.join(f"{{{column}}}" for column in columns)
        template = f'{{range .items[*]}}{cells}{{"{ROW_END}"}}{{end}}'
        output = self._run(["get", ",".join(kinds), *where, f"--output=jsonpath={template}"])
        rows = [tuple(row.split(CELL_END)) for row in output.split(ROW_END)[:-1]]
        if any(len(row) != len(columns) for row in rows):
            raise CommandFailedError(f"a field of the {', '.join(kinds)} has control characters")
        return rows

    def apply(self, objects: Sequence[Object]) -> None:
        """Write objects by server-side apply, also fields that others have set."""
        arguments = ["apply", "--server-side", "--force-conflicts", "--output=name"]
        file = str(self._objects_file(objects))
        self._run([*arguments, "--field-manager", FIELD_MANAGER, "--filename", file])

    def annotate(self, objects: Sequence[Object], *, key: str, value: str) -> None:
        """Set an annotation of objects that exist."""
        arguments = ["annotate", "--filename", str(self._keys_file(objects)), "--overwrite"]
        self._run([*arguments, f"{key}={value}"])

    def delete(self, kind: str, *, selector: str) -> list[str]:
        """Delete objects by their labels without waiting for it; return their names."""
        arguments = ["delete", kind, f"--selector={selector}", "--wait=false", "--output=name"]
        return self._run(arguments).split()

    def finalize_namespace(self, namespace: Object) -> None:
        """Let a terminating namespace go, whatever Kubernetes still means to look for in it."""
        name = namespace["metadata"]["name"]
        spec = {**namespace.get("spec", {}), "finalizers": []}
        file = self._file(json.dumps({**namespace, "spec": spec}))
        path = f"/api/v1/namespaces/{name}/finalize"
        self._run(["replace", f"--raw={path}", "--filename", str(file)])

    def await_established(self, names: Sequence[str]) -> None:
        """Wait until definitions are served."""
        seconds = self.timeout_seconds()
        arguments = ["wait", "--for=condition=Established", f"--timeout={int(seconds)}s"]
        definitions = [f"customresourcedefinitions/{name}" for name in names]
        self.run([*arguments, *definitions], timeout_seconds=seconds + _STOP_AFTER_TIMEOUT_SECONDS)

    def _run(self, arguments: Sequence[str]) -> str:
        return self.run(arguments, timeout_seconds=self.timeout_seconds())

    def _keys_file(self, objects: Sequence[Object]) -> Path:
        return self._objects_file(
            [{key: item[key] for key in ("apiVersion", "kind", "metadata")} for item in objects]
        )

    def _objects_file(self, objects: Sequence[Object]) -> Path:
        return self._file(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))

    def _file(self, content: str) -> Path:
        path = self.home / "manifest"
        path.write_text(content, encoding="utf-8")
        return path


def _json_stream(text: str) -> Iterator[Object]:
    decoder = json.JSONDecoder()
    position = 0
    while position < len(text):
        item, position = decoder.raw_decode(text, position)
        yield from _flat([item])
        while position < len(text) and text[position].isspace():
            position += 1


def _flat(items: Iterable[Object]) -> Iterator[Object]:
    for item in items:
        if item.get("kind", "").endswith("List") and "items" in item:
            yield from _flat(item["items"])
        else:
            yield item


def _without_empty_annotations(item: Object) -> Object:
    metadata = item.get("metadata") or {}
    if metadata.get("annotations") == {}:
        metadata = {key: value for key, value in metadata.items() if key != "annotations"}
    return {**item, "metadata": dict(metadata)}
