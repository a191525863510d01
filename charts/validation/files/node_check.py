"""Says what a node can do: a JSON object a line, and by the exit code whether all is well.

It runs on a node, in a container, with Python's standard library and what the image has; what the
image has not is told, and is no fault of the node.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

OK, FAILED, SKIPPED = "ok", "failed", "skipped"
_SECONDS = 120
# Where EFA's installer and Neuron's packages put tools, should the image not say so:
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html
# https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/neuron-ls.html
_FOLDERS = ("/opt/amazon/efa/bin", "/opt/aws/neuron/bin")
# Errors of programs, after which a GPU is as good as before; NVIDIA's device plugin passes over
# them: https://github.com/NVIDIA/k8s-device-plugin/blob/main/internal/rm/health.go
_PROGRAMS_XIDS = frozenset({13, 31, 43, 45, 68, 109})
# NVRM: Xid (PCI:0000:53:00): 79, pid=..., https://docs.nvidia.com/deploy/xid-errors/
_XID = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]+)[^)]*\): (\d+)")
_MOST_TOLD = 4
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
_METADATA, _METADATA_SECONDS = "169.254.169.254", 2.0
_MOST_BYTES = 1024
_ROLES = "/latest/meta-data/iam/security-credentials/"


class Line(NamedTuple):
    """What one check found: ok, failed or skipped, what there is, and what there should be."""

    check: str
    result: str
    found: str
    expected: str = ""


class Ran(NamedTuple):
    """What a program did; no code if the image does not have it."""

    code: int | None
    output: str


def run(*command: str, seconds: float = _SECONDS) -> Ran:
    """Run a program; a node on which it hangs has failed."""
    program = shutil.which(command[0], path=os.pathsep.join([*os.get_exec_path(), *_FOLDERS]))
    if program is None:
        return Ran(None, f"the image has no {command[0]}")
    try:
        done = subprocess.run(  # noqa: S603 - commands of this file, without a shell
            [program, *command[1:]],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            text=True,
            errors="replace",
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Ran(1, f"{command[0]} did not end within {seconds:.0f} s")
    return Ran(done.returncode, done.stdout)


def table(text: str) -> list[dict[str, str]]:
    """Return the rows of the CSV that nvidia-smi writes, whose first line has the names."""
    lines = [
        [cell.strip() for cell in line.split(",")] for line in text.splitlines() if line.strip()
    ]
    if not lines:
        return []
    names = [name.split(" [")[0] for name in lines[0]]
    return [dict(zip(names, line)) for line in lines[1:] if len(line) == len(names)]  # noqa: B905 - Python 3.9


def gpus(devices: Ran, *, expected: int) -> Iterator[Line]:
    """Yield how many GPUs there are, with which driver, and their uncorrectable ECC errors.

    `nvidia-smi --help-query-gpu` describes the columns; [N/A] is a GPU without ECC.
    """
    if devices.code is None:
        yield Line("GPUs", SKIPPED, devices.output, f"{expected}")
        return
    rows = table(devices.output) if devices.code == 0 else []
    named = sorted({f"{row['name']}, driver {row['driver_version']}" for row in rows})
    found = f"{len(rows)} ({'; '.join(named)})" if rows else f"none: {_last(devices.output)}"
    yield Line("GPUs", OK if len(rows) == expected else FAILED, found, f"{expected}")
    errors = {
        row["pci.bus_id"]: int(count)
        for row in rows
        if (count := row["ecc.errors.uncorrected.volatile.total"]).isdigit() and int(count)
    }
    told = ", ".join(f"{bus}: {count} uncorrectable" for bus, count in errors.items())
    yield Line("ECC", FAILED if errors else OK, told or "no uncorrectable error", "none")


def remapped_rows(rows: Ran) -> Iterator[Line]:
    """Yield whether a GPU waits for a reset to replace memory, or has none left to do so.

    https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/
    """
    if rows.code != 0:  # older GPUs and drivers have none
        return
    bad = [
        f"{row['gpu_bus_id']}: {kind}"
        for row in table(rows.output)
        for kind in ("pending", "failure")
        if row.get(f"remapped_rows.{kind}") in ("1", "Yes")
    ]
    yield Line("memory rows", FAILED if bad else OK, ", ".join(bad) or "none pending", "none")


def neuron(devices: Ran, *, expected: int) -> Iterator[Line]:
    """Yield how many Neuron devices there are: `neuron-ls --json-output`, a list.

    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/neuron-ls.html
    """
    if devices.code is None:
        yield Line("Neuron devices", SKIPPED, devices.output, f"{expected}")
        return
    try:
        found = json.loads(devices.output) if devices.code == 0 else []
    except ValueError:
        found = []
    if isinstance(found, dict):
        found = found.get("mlas", [])
    cores = sum(each.get("nc_count", 0) for each in found)
    told = f"{len(found)} ({cores} cores)" if found else f"none: {_last(devices.output)}"
    yield Line("Neuron devices", OK if len(found) == expected else FAILED, told, f"{expected}")


def efa(info: Ran, *, expected: int) -> Iterator[Line]:
    """Yield how many EFA interfaces libfabric sees: `fi_info -p efa -t FI_EP_RDM`.

    Each is a domain, once for each fabric (efa, efa-direct).
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html
    """
    if info.code is None:
        yield Line("EFA interfaces", SKIPPED, info.output, f"{expected}")
        return
    domains, provider = set(), ""
    for line in info.output.splitlines():
        name, _, value = line.strip().partition(": ")
        provider = value if name == "provider" else provider
        if name == "domain" and provider == "efa":
            domains.add(value)
    told = f"{len(domains)}" if domains else f"none: {_last(info.output)}"
    yield Line("EFA interfaces", OK if len(domains) == expected else FAILED, told, f"{expected}")


def xids(lines: Iterable[str], *, booted: float, now: float) -> Iterator[Line]:
    """Yield the Xid errors of the kernel's log since the node has started."""
    seen: dict[str, int] = {}
    for line in lines:
        found = _XID.search(line)
        if found is None or int(found[2]) in _PROGRAMS_XIDS:
            continue
        written = _moment(line, now=now)
        if written is None or written >= booted:
            told = f"Xid {found[2]} on {found[1]}"
            seen[told] = seen.get(told, 0) + 1
    errors = [f"{each}, {count} times" if count > 1 else each for each, count in seen.items()]
    more = f", and {len(errors) - _MOST_TOLD} more" if len(errors) > _MOST_TOLD else ""
    yield Line(
        "Xid", FAILED if seen else OK, ", ".join(errors[:_MOST_TOLD]) + more or "none", "none"
    )


def _moment(line: str, *, now: float) -> float | None:
    """Return when a line of syslog was written, of which one form has no year."""
    first = line.split(maxsplit=1)[0] if line.split() else ""
    try:
        return datetime.fromisoformat(first.replace("Z", "+00:00")).timestamp()
    except ValueError:
        pass
    year = datetime.fromtimestamp(now, tz=timezone.utc).year  # noqa: UP017 - Python 3.9
    try:
        written = datetime.strptime(f"{year} {line[:15]} +0000", "%Y %b %d %H:%M:%S %z").timestamp()
    except ValueError:
        return None
    return written if written <= now + 86_400 else written - 365 * 86_400


def _last(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "it says nothing"


def node(asked: argparse.Namespace) -> Iterator[Line]:
    """Yield what a node has, without load on it."""
    if asked.gpus:
        columns = "index,name,pci.bus_id,driver_version,ecc.errors.uncorrected.volatile.total"
        yield from gpus(
            run("nvidia-smi", f"--query-gpu={columns}", "--format=csv"), expected=asked.gpus
        )
        columns = "gpu_bus_id,remapped_rows.pending,remapped_rows.failure"
        yield from remapped_rows(
            run("nvidia-smi", f"--query-remapped-rows={columns}", "--format=csv")
        )
        yield from _logged_xids(asked.log)
    if asked.neuron:
        yield from neuron(run("neuron-ls", "--json-output"), expected=asked.neuron)
    if asked.efa:
        yield from efa(run("fi_info", "-p", "efa", "-t", "FI_EP_RDM"), expected=asked.efa)
    yield from metadata()


def metadata(host: str = _METADATA, *, seconds: float = _METADATA_SECONDS) -> Iterator[Line]:
    """Yield what a pod gets of the instance metadata, which is no fault of the node.

    Where the hop limit is 1, the answer does not come. A proxy is not asked.
    """
    check = "instance metadata"
    connection = http.client.HTTPConnection(host, timeout=seconds)
    try:
        connection.request(
            "PUT", "/latest/api/token", headers={"X-aws-ec2-metadata-token-ttl-seconds": "60"}
        )
        answer = connection.getresponse()
        token = answer.read(_MOST_BYTES).decode("ascii", "replace").strip()
        if answer.status != http.HTTPStatus.OK:
            yield Line(check, OK, f"reached, but gives no token ({answer.status})")
            return
        connection.request("GET", _ROLES, headers={"X-aws-ec2-metadata-token": token})
        answer = connection.getresponse()
        role = answer.read(_MOST_BYTES).decode("ascii", "replace").strip()
        told = f"role {role[:64]}" if answer.status == http.HTTPStatus.OK else "no role"
        yield Line(check, OK, f"reached: every pod here gets {told} of the node")
    except OSError:  # no answer, no route, or a policy of the network
        yield Line(check, OK, "not reached: no pod here gets the role of the node")
    except (ValueError, http.client.HTTPException) as error:
        yield Line(check, SKIPPED, f"not known: {type(error).__name__}")
    finally:
        connection.close()


def _logged_xids(log: str) -> Iterator[Line]:
    now = time.time()
    try:
        uptime = float(Path("/proc/uptime").read_text("ascii").split()[0])
        with Path(log).open(encoding="utf-8", errors="replace") as lines:
            yield from xids(lines, booted=now - uptime, now=now)
    except OSError as error:
        yield Line("Xid", SKIPPED, f"{log}: {error.strerror}", "none")


def storage(asked: argparse.Namespace) -> Iterator[Line]:
    """Yield what fio measures on a file system: large blocks, past the node's own cache.

    https://fio.readthedocs.io/en/latest/fio_doc.html#json-output
    """
    folder = Path(asked.folder) / f".hyperpod-validation-{asked.name}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for kind in ("write", "read"):
            done = run(
                "fio",
                "--name=validation",
                f"--directory={folder}",
                f"--rw={kind}",
                "--bs=1M",
                "--ioengine=libaio",
                "--direct=1",
                "--iodepth=16",
                f"--numjobs={asked.jobs}",
                f"--size={asked.size}",
                "--group_reporting",
                "--output-format=json",
                seconds=asked.seconds,
            )
            yield throughput(done, kind=kind)
    except OSError as error:
        yield Line("FSx", FAILED, f"{asked.folder}: {error.strerror}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def throughput(done: Ran, *, kind: str) -> Line:
    """Return the throughput of fio's JSON, before which warnings may stand."""
    check = f"FSx {kind}"
    if done.code is None:
        return Line(check, SKIPPED, done.output)
    begin = done.output.find("{")
    try:
        jobs: list[dict[str, Any]] = json.loads(done.output[max(begin, 0) :])["jobs"]
    except (ValueError, KeyError):
        return Line(check, FAILED, _last(done.output))
    rate = sum(job[kind]["bw_bytes"] for job in jobs) / 1e6
    errors = [job["error"] for job in jobs if job.get("error")]
    if errors or done.code:
        return Line(check, FAILED, f"fio ended with error {errors[0] if errors else done.code}")
    return Line(check, OK if rate > 0 else FAILED, f"{rate:,.0f} MB/s from one node")


def rendezvous(asked: argparse.Namespace) -> Iterator[Line]:
    """Yield whether all nodes meet: torchrun starts nothing before they do."""
    begun = time.monotonic()
    done = run(
        "torchrun",
        f"--nnodes={asked.size}",
        "--nproc-per-node=1",
        f"--rdzv-backend={asked.backend}",
        f"--rdzv-endpoint={asked.endpoint}",
        f"--rdzv-id={asked.name}",
        "--no-python",
        "true",
        seconds=asked.seconds,
    )
    check = f"rendezvous {asked.backend}"
    if done.code is None:
        yield Line(check, SKIPPED, done.output)
        return
    took = f"{asked.size} nodes met in {time.monotonic() - begun:.0f} s"
    yield Line(check, FAILED if done.code else OK, _last(done.output) if done.code else took)


def main() -> int:
    """Print what was found, a line each; 1 if something has failed."""
    parser = argparse.ArgumentParser()
    kinds = parser.add_subparsers(required=True)
    checks = {"node": node, "storage": storage, "rendezvous": rendezvous}
    made = {name: kinds.add_parser(name) for name in checks}
    for name, check in checks.items():
        made[name].set_defaults(check=check)
        made[name].add_argument("--name", default="check")
        made[name].add_argument("--seconds", type=float, default=600)
    for device in ("gpus", "neuron", "efa"):
        made["node"].add_argument(f"--{device}", type=int, default=0)
    made["node"].add_argument("--log", default="/host/var/log/messages")
    made["storage"].add_argument("--folder", required=True)
    made["storage"].add_argument("--jobs", type=int, default=8)
    made["storage"].add_argument("--size", default="4G")
    for option in ("--backend", "--endpoint"):
        made["rendezvous"].add_argument(option, required=True)
    made["rendezvous"].add_argument("--size", type=int, required=True)
    asked = parser.parse_args()
    failed = False
    for line in asked.check(asked):
        print(json.dumps(line._asdict()), flush=True)  # noqa: T201 - its output
        failed = failed or line.result == FAILED
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
