"""The kubectl commands that a Helm release needs in addition to helm."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from provisioner.kubernetes.manifest import Object
from provisioner.kubernetes.process import Run

FIELD_MANAGER = "hyperpod-cdk"
"""The server-side apply field manager of what `Kubectl.apply` writes."""

_NOTHING = "<none>"
_UNUSED_ANNOTATION = "hyperpod-cdk/unused"
_STOP_AFTER_TIMEOUT_SECONDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubectl:
    """kubectl for one cluster.

    Attributes:
        run: Runs it.
        home: A folder for the files that it reads.
        timeout_seconds: How long a command may take now.
    """

    run: Run
    home: Path
    timeout_seconds: Callable[[], float]

    def parse(self, manifest: str) -> list[Object]:
        """Return the objects of a YAML manifest, without a call of the API.

        Raises:
            CommandFailedError: It is no manifest.
        """
        if not manifest.strip():
            return []
        # Removing an annotation that no object has is kubectl's only way to just print objects.
        arguments = ["annotate", "--local", "--filename", str(self._file(manifest))]
        output = self._run([*arguments, "--output=json", f"{_UNUSED_ANNOTATION}-"])
        return [_without_empty_annotations(item) for item in _json_stream(output)]

    def live(self, objects: Sequence[Object]) -> list[Object]:
        """Return those of the objects that exist, as the cluster has them.

        Raises:
            CommandFailedError: The API refused, or does not know a kind.
        """
        if not objects:
            return []
        arguments = ["get", "--filename", str(self._keys_file(objects)), "--ignore-not-found"]
        output = self._run([*arguments, "--show-managed-fields", "--output=json"])
        return list(_flat([json.loads(output)])) if output.strip() else []

    def objects(self, kind: str, *, namespace: str) -> list[Object]:
        """Return all objects of a kind in a namespace; the namespace is ignored for `nodes`.

        Raises:
            CommandFailedError: The API refused, or does not know the kind.
        """
        output = self._run(["get", kind, "--namespace", namespace, "--output=json"])
        return list(_flat([json.loads(output)]))

    def table(
        self, kinds: Sequence[str], columns: Sequence[str], *, namespace: str | None = None
    ) -> list[tuple[str, ...]]:
        """Return some fields of all objects of some kinds: far less than whole objects.

        Args:
            kinds: Such as `jobs.batch`.
            columns: Paths of fields that hold no spaces, such as `.metadata.name`.
            namespace: Where. Default: everywhere.

        Raises:
            CommandFailedError: The API refused, or does not know a kind.
        """
        where = ["--all-namespaces"] if namespace is None else ["--namespace", namespace]
        template = ",".join(f"C{number}:{column}" for number, column in enumerate(columns))
        arguments = ["get", ",".join(kinds), *where, "--no-headers"]
        output = self._run([*arguments, f"--output=custom-columns={template}"])
        rows = (line.split() for line in output.splitlines())
        return [tuple("" if cell == _NOTHING else cell for cell in row) for row in rows if row]

    def apply(self, objects: Sequence[Object]) -> None:
        """Write objects by server-side apply, also fields that others have set.

        Raises:
            CommandFailedError: The API refused.
        """
        arguments = ["apply", "--server-side", "--force-conflicts", "--output=name"]
        file = str(self._objects_file(objects))
        self._run([*arguments, "--field-manager", FIELD_MANAGER, "--filename", file])

    def annotate(self, objects: Sequence[Object], *, key: str, value: str) -> None:
        """Set an annotation of objects that exist.

        Raises:
            CommandFailedError: The API refused.
        """
        arguments = ["annotate", "--filename", str(self._keys_file(objects)), "--overwrite"]
        self._run([*arguments, f"{key}={value}"])

    def delete(self, kind: str, *, selector: str) -> list[str]:
        """Delete objects by their labels, without waiting until they are gone; return their names.

        Raises:
            CommandFailedError: The API refused.
        """
        arguments = ["delete", kind, f"--selector={selector}", "--wait=false", "--output=name"]
        return self._run(arguments).split()

    def finalize_namespace(self, namespace: Object) -> None:
        """Let a terminating namespace go, whatever Kubernetes still means to look for in it.

        Raises:
            CommandFailedError: The API refused.
        """
        name = namespace["metadata"]["name"]
        spec = {**namespace.get("spec", {}), "finalizers": []}
        file = self._file(json.dumps({**namespace, "spec": spec}))
        path = f"/api/v1/namespaces/{name}/finalize"
        self._run(["replace", f"--raw={path}", "--filename", str(file)])

    def await_established(self, names: Sequence[str]) -> None:
        """Wait until definitions are served.

        Raises:
            CommandFailedError: They are not, in time.
        """
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
