"""The kubectl commands that a Helm release needs besides helm's."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from provisioner.kubernetes.process import ClusterProcess

Object = dict[str, Any]

FIELD_MANAGER = "hyperpod-cdk"
"""Who owns the fields of what `Kubectl.apply` writes."""

_NOTHING = "<none>"
_UNUSED_ANNOTATION = "hyperpod-cdk/unused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubectl:
    """kubectl for one cluster.

    Args:
        process: Runs it.
    """

    process: ClusterProcess
    _names: Iterator[int] = field(default_factory=count, init=False)

    def parse(self, manifest: str, *, timeout_seconds: float) -> list[Object]:
        """Return the objects of a YAML manifest, without a call of the API.

        Raises:
            CommandFailedError: It is no manifest.
        """
        if not manifest.strip():
            return []
        # Taking away an annotation that no object has is kubectl's only way to just print them.
        arguments = ["annotate", "--local", "--filename", str(self._file(manifest))]
        output = self.process.run(
            [*arguments, "--output=json", f"{_UNUSED_ANNOTATION}-"], timeout_seconds=timeout_seconds
        )
        return [_without_empty_annotations(item) for item in _json_stream(output)]

    def live(self, objects: Sequence[Object], *, timeout_seconds: float) -> list[Object]:
        """Return those of the objects that exist, as the cluster has them.

        Raises:
            CommandFailedError: The API refused, or does not know a kind.
        """
        if not objects:
            return []
        arguments = ["get", "--filename", str(self._keys_file(objects)), "--ignore-not-found"]
        output = self.process.run(
            [*arguments, "--show-managed-fields", "--output=json"], timeout_seconds=timeout_seconds
        )
        return list(_flat([json.loads(output)])) if output.strip() else []

    def objects(self, kind: str, *, namespace: str, timeout_seconds: float) -> list[Object]:
        """Return all objects of a kind in a namespace; for a kind without any, all there are.

        Raises:
            CommandFailedError: The API refused, or does not know the kind.
        """
        arguments = ["get", kind, "--namespace", namespace, "--output=json"]
        output = self.process.run(arguments, timeout_seconds=timeout_seconds)
        return list(_flat([json.loads(output)]))

    def table(
        self,
        kinds: Sequence[str],
        columns: Sequence[str],
        *,
        namespace: str | None = None,
        timeout_seconds: float,
    ) -> list[tuple[str, ...]]:
        """Return some fields of all objects of some kinds: far less than whole definitions.

        Args:
            kinds: Such as ``jobs.batch``.
            columns: Paths of fields that hold no spaces, such as ``.metadata.name``.
            namespace: Where; None means everywhere.
            timeout_seconds: How long it may take.

        Raises:
            CommandFailedError: The API refused, or does not know a kind.
        """
        where = ["--all-namespaces"] if namespace is None else ["--namespace", namespace]
        template = ",".join(f"C{number}:{column}" for number, column in enumerate(columns))
        arguments = ["get", ",".join(kinds), *where, "--no-headers"]
        output = self.process.run(
            [*arguments, f"--output=custom-columns={template}"], timeout_seconds=timeout_seconds
        )
        rows = (line.split() for line in output.splitlines())
        return [tuple("" if cell == _NOTHING else cell for cell in row) for row in rows if row]

    def apply(self, objects: Sequence[Object], *, timeout_seconds: float) -> None:
        """Write objects by server-side apply, taking over fields that others set.

        Raises:
            CommandFailedError: The API refused.
        """
        arguments = ["apply", "--server-side", "--force-conflicts", "--output=name"]
        target = ["--field-manager", FIELD_MANAGER, "--filename", str(self._objects_file(objects))]
        self.process.run([*arguments, *target], timeout_seconds=timeout_seconds)

    def annotate(
        self, objects: Sequence[Object], *, key: str, value: str, timeout_seconds: float
    ) -> None:
        """Set an annotation of objects that exist.

        Raises:
            CommandFailedError: The API refused.
        """
        arguments = ["annotate", "--filename", str(self._keys_file(objects)), "--overwrite"]
        self.process.run([*arguments, f"{key}={value}"], timeout_seconds=timeout_seconds)

    def await_established(self, names: Sequence[str], *, timeout_seconds: float) -> None:
        """Wait until definitions are served.

        Raises:
            CommandFailedError: They are not, in time.
        """
        arguments = ["wait", "--for=condition=Established", f"--timeout={int(timeout_seconds)}s"]
        definitions = [f"customresourcedefinitions/{name}" for name in names]
        self.process.run([*arguments, *definitions], timeout_seconds=timeout_seconds + 5)

    def _keys_file(self, objects: Sequence[Object]) -> Path:
        return self._objects_file(
            [{key: item[key] for key in ("apiVersion", "kind", "metadata")} for item in objects]
        )

    def _objects_file(self, objects: Sequence[Object]) -> Path:
        return self._file(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))

    def _file(self, content: str) -> Path:
        path = self.process.home / f"manifest-{next(self._names)}"
        path.write_text(content)
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
    metadata: Mapping[str, Any] = item.get("metadata") or {}
    if metadata.get("annotations") == {}:
        metadata = {key: value for key, value in metadata.items() if key != "annotations"}
    return {**item, "metadata": dict(metadata)}
