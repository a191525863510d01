"""Containers as processes of this machine: what stands in for images, volumes, ports and names."""

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Thread

from hyperpod_emulator.kubernetes.objects.errors import Object
from hyperpod_emulator.kubernetes.objects.metadata import field_at

_MARK = "EMULATOR_CONTAINER"
_REFERENCE = re.compile(r"\$\(([A-Za-z_][\w.-]*)\)")
_LAST_OUTPUT_SECONDS = 5.0


class Translation:
    """What a container's text means on this machine.

    A path below a volume's mount is one in the folder behind the volume, because mounting takes
    root. A name of a headless Service with a port is a port of the loopback address that no other
    pod has, because all pods share this machine's addresses.

    Args:
        paths: Folder of this machine by mount path.
        endpoints: Port of this machine by `name:port`, as a Service has them.
    """

    def __init__(self, *, paths: Mapping[str, Path], endpoints: Mapping[str, int]) -> None:
        self._paths = sorted(paths.items(), key=lambda pair: -len(pair[0]))
        self._endpoints = endpoints

    def of(self, text: str) -> str:
        """Return a text as this machine understands it."""
        for mount, folder in self._paths:
            text = re.sub(rf"(?<![\w./-]){re.escape(mount)}(?![\w.-])", str(folder), text)
        for endpoint, port in self._named(text):
            text = _endpoint(endpoint).sub(f"127.0.0.1:{port}", text)
        return text

    def ports(self, texts: Sequence[str]) -> set[int]:
        """Return the ports that texts name."""
        return {port for text in texts for _, port in self._named(text)}

    def _named(self, text: str) -> list[tuple[str, int]]:
        found = self._endpoints.items()
        return [(name, port) for name, port in found if _endpoint(name).search(text)]


def _endpoint(name: str) -> re.Pattern[str]:
    host, port = name.split(":")
    return re.compile(rf"(?<![\w.-]){re.escape(host)}(?:\.[\w.-]+)?:{port}(?!\d)")


def expanded(text: str, environment: Mapping[str, str]) -> str:
    """Return a text with `$(NAME)` replaced, as a kubelet does; unknown names stay."""
    return _REFERENCE.sub(lambda found: environment.get(found[1], found[0]), text)


def environment_of(
    container: Object, *, pod: Object, data: Callable[[str, str], Mapping[str, str] | None]
) -> dict[str, str]:
    """Return the environment that a container's `envFrom` and, above it, `env` describe.

    https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#environment-variables

    Args:
        container: The container.
        pod: Its pod, whose fields may be referred to.
        data: Returns what a `Secret` or a `ConfigMap` of a name holds, decoded; None without one.

    Raises:
        KeyError: What is referred to is not there, or does not have the key.
    """
    found: dict[str, str] = {}
    for each in container.get("envFrom") or ():
        kind = "Secret" if "secretRef" in each else "ConfigMap"
        reference = each.get("secretRef") or each["configMapRef"]
        held = data(kind, reference["name"])
        if held is None and not reference.get("optional"):
            raise KeyError(reference["name"])
        found |= {f"{each.get('prefix', '')}{key}": text for key, text in (held or {}).items()}
    for each in container.get("env") or ():
        source = each.get("valueFrom") or {}
        if "fieldRef" in source:
            found[each["name"]] = _field(pod, source["fieldRef"]["fieldPath"])
        elif "secretKeyRef" in source or "configMapKeyRef" in source:
            kind = "Secret" if "secretKeyRef" in source else "ConfigMap"
            [reference] = source.values()
            held = data(kind, reference["name"]) or {}
            if reference["key"] in held or not reference.get("optional"):
                found[each["name"]] = held[reference["key"]]
        else:
            found[each["name"]] = expanded(each.get("value") or "", found)
    return found


def _field(pod: Object, path: str) -> str:
    """Return a field of the downward API, such as `metadata.labels['app']`."""
    match = re.fullmatch(r"metadata\.(labels|annotations)\['(.+)'\]", path)
    if match is not None:
        return str((pod["metadata"].get(match[1]) or {}).get(match[2], ""))
    return str(field_at(pod, path) or "")


class ContainerProcess:
    """The processes of one container, from its start to their end.

    They are marked with the identifier in their environment, wherever they go; what they write is
    passed on in a thread.
    """

    def __init__(
        self,
        *,
        identifier: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        directory: Path,
        write: Callable[[bytes], None],
    ) -> None:
        self._identifier = f"{_MARK}={identifier}".encode()
        self._process = subprocess.Popen(  # noqa: S603 - what the pod says, on the user's behalf
            command,
            env={**environment, _MARK: identifier},
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._reader = Thread(target=self._read, args=[write], daemon=True)
        self._reader.start()

    @property
    def exit_code(self) -> int | None:
        """Its exit code, 128 and the signal's number if one ended it; None while it runs."""
        code = self._process.poll()
        if code is None:
            return None
        # With its first process, a container's others end.
        self.kill()
        return 128 - code if code < 0 else code

    def terminate(self) -> None:
        """Ask its first process to end."""
        self._process.terminate()

    def kill(self) -> None:
        """End all its processes at once, those too that have left their parents."""
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended, or is someone else's
                if self._identifier in (folder / "environ").read_bytes().split(b"\0"):
                    os.kill(int(folder.name), signal.SIGKILL)
        self._process.wait()
        self._reader.join(_LAST_OUTPUT_SECONDS)

    def _read(self, write: Callable[[bytes], None]) -> None:
        assert self._process.stdout is not None  # noqa: S101 - narrows it for mypy
        with self._process.stdout as output:
            for line in output:
                write(line)
