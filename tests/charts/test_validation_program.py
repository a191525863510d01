"""What the program of the chart validation makes of the tools' output, in their formats."""

import json
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest

from tests.support.configs import REPOSITORY
from tests.support.loaded import loaded

PROGRAM = loaded("node_check", REPOSITORY / "charts" / "validation" / "files" / "node_check.py")
NOW = datetime(2026, 1, 5, 12, tzinfo=UTC).timestamp()
DAY = 86_400.0

SMI = "index, name, pci.bus_id, driver_version, ecc.errors.uncorrected.volatile.total\n"
H100 = "NVIDIA H100 80GB HBM3"


def ran(output: str, code: int | None = 0) -> Any:  # noqa: ANN401 - of a module no checker finds
    return PROGRAM.Ran(code, output)


def gpu(number: int, errors: str = "0") -> str:
    return f"{number}, {H100}, 00000000:5{number}:00.0, 570.133.20, {errors}\n"


def found(lines: Any) -> list[tuple[str, str, str]]:  # noqa: ANN401
    return [(each.check, each.result, each.found) for each in lines]


EIGHT = "".join(map(gpu, range(8)))
NAMED = f"({H100}, driver 570.133.20)"
SMI_CASES = [
    (SMI + EIGHT, 0, ("ok", f"8 {NAMED}"), ("ok", "no uncorrectable error")),
    (SMI + EIGHT[: -len(gpu(7))], 0, ("failed", f"7 {NAMED}"), ("ok", "no uncorrectable error")),
    (
        SMI + EIGHT.replace(gpu(3), gpu(3, "2")),
        0,
        ("ok", f"8 {NAMED}"),
        ("failed", "00000000:53:00.0: 2 uncorrectable"),
    ),
    (SMI + "".join(gpu(n, "[N/A]") for n in range(8)), 0, ("ok", f"8 {NAMED}"), ("ok", "no unc")),
    ("No devices were found\n", 6, ("failed", "none: No devices were found"), ("ok", "no unc")),
    (
        "Unable to determine the device handle for GPU0000:53:00.0: GPU is lost.  Reboot\n",
        15,
        ("failed", "none: Unable to determine"),
        ("ok", ""),
    ),
    ("nvidia-smi did not end within 120 s", 1, ("failed", "none: nvidia-smi did not"), ("ok", "")),
]


@pytest.mark.parametrize(("output", "code", "count", "ecc"), SMI_CASES)
def test_gpus(output: str, code: int, count: tuple[str, str], ecc: tuple[str, str]) -> None:
    (one, two) = found(PROGRAM.gpus(ran(output, code), expected=8))
    for told, (result, text) in zip((one, two), (count, ecc), strict=True):
        assert told[1] == result
        assert told[2].startswith(text)


@pytest.mark.parametrize(
    ("rows", "result", "told"),
    [
        ("00000000:53:00.0, 0, 0", "ok", "none pending"),
        ("00000000:53:00.0, No, No", "ok", "none pending"),
        ("00000000:53:00.0, 1, 0", "failed", "00000000:53:00.0: pending"),
        (
            "00000000:53:00.0, Yes, Yes",
            "failed",
            "00000000:53:00.0: pending, 00000000:53:00.0: fai",
        ),
    ],
)
def test_memory_rows(rows: str, result: str, told: str) -> None:
    header = "gpu_bus_id, remapped_rows.pending, remapped_rows.failure\n"
    ((_, got, text),) = found(PROGRAM.remapped_rows(ran(header + rows)))
    assert (got, text.startswith(told)) == (result, True)
    assert found(PROGRAM.remapped_rows(ran("not supported", 1))) == []


def device(number: int) -> dict[str, Any]:
    return {"neuron_device": number, "bdf": "00:1e.0", "nc_count": 2, "connected_to": None}


@pytest.mark.parametrize(
    ("output", "result", "told"),
    [
        (json.dumps([device(n) for n in range(16)]), "ok", "16 (32 cores)"),
        (json.dumps({"mlas": [device(n) for n in range(16)]}), "ok", "16 (32 cores)"),
        (json.dumps([device(n) for n in range(15)]), "failed", "15 (30 cores)"),
        ("", "failed", "none: it says nothing"),
        ("neuron-ls: no neuron device found", "failed", "none: neuron-ls: no"),
    ],
)
def test_neuron_devices(output: str, result: str, told: str) -> None:
    ((_, got, text),) = found(PROGRAM.neuron(ran(output), expected=16))
    assert (got, text.startswith(told)) == (result, True)


def interface(number: int, fabric: str, provider: str = "efa") -> str:
    return (
        f"provider: {provider}\n    fabric: {fabric}\n    domain: rdmap{number}s0-rdm\n"
        "    version: 201.0\n    type: FI_EP_RDM\n    protocol: FI_PROTO_EFA\n"
    )


@pytest.mark.parametrize(
    ("output", "result", "told"),
    [
        ("".join(interface(n, "efa") for n in range(4)), "ok", "4"),
        # A newer libfabric lists each for each of its fabrics, and what stands upon it.
        (
            "".join(interface(n, f) for n in range(4) for f in ("efa-direct", "efa"))
            + interface(9, "efa", "efa;ofi_rxd"),
            "ok",
            "4",
        ),
        (interface(0, "efa"), "failed", "1"),
        ("fi_getinfo: -61 (No data available)\n", "failed", "none: fi_getinfo: -61 (No data"),
    ],
)
def test_efa_interfaces(output: str, result: str, told: str) -> None:
    ((_, got, text),) = found(PROGRAM.efa(ran(output), expected=4))
    assert (got, text.startswith(told)) == (result, True)


XID = "kernel: NVRM: Xid (PCI:0000:53:00): {}, pid=1234, name=python, GPU has fallen off the bus."


@pytest.mark.parametrize(
    ("lines", "result", "told"),
    [
        (["Jan  5 11:59:00 ip-10-1-0-4 " + XID.format(79)], "failed", "Xid 79 on 0000:53:00"),
        (["2026-01-05T11:59:00.123456+00:00 ip " + XID.format(74)] * 2, "failed", "Xid 74 on 0000"),
        # Before the node has started, last year, of a program, or something else.
        (["Jan  4 11:59:00 ip-10-1-0-4 " + XID.format(79)], "ok", "none"),
        (["Dec 31 11:59:00 ip-10-1-0-4 " + XID.format(79)], "ok", "none"),
        (["Jan  5 11:59:00 ip-10-1-0-4 " + XID.format(31)], "ok", "none"),
        (["", "Jan  5 11:59:00 ip-10-1-0-4 kernel: NVRM: loading"], "ok", "none"),
        # No time is known of it.
        ([XID.format(48)], "failed", "Xid 48 on 0000:53:00"),
        (["[ 12.3] NVRM: Xid (0000:53:00): 119, Timeout"], "failed", "Xid 119 on 0000:53:00"),
    ],
)
def test_xids(lines: list[str], result: str, told: str) -> None:
    ((_, got, text),) = found(PROGRAM.xids(lines, booted=NOW - DAY / 2, now=NOW))
    assert (got, text.startswith(told)) == (result, True)


JOB = {"error": 0, "read": {"bw_bytes": 1_500_000_000}, "write": {"bw_bytes": 7}}


@pytest.mark.parametrize(
    ("output", "code", "result", "told"),
    [
        (json.dumps({"fio version": "fio-3.28", "jobs": [JOB]}), 0, "ok", "1,500 MB/s from one"),
        ("fio: note\n" + json.dumps({"jobs": [JOB, JOB]}), 0, "ok", "3,000 MB/s from one node"),
        (json.dumps({"jobs": [{**JOB, "error": 28}]}), 1, "failed", "fio ended with error 28"),
        ("fio: failed to open", 1, "failed", "fio: failed to open"),
        ("the image has no fio", None, "skipped", "the image has no fio"),
    ],
)
def test_throughput(output: str, code: int | None, result: str, told: str) -> None:
    ((check, got, text),) = found([PROGRAM.throughput(ran(output, code), kind="read")])
    assert (check, got, text.startswith(told)) == ("FSx read", result, True)


def test_what_the_image_has_not_is_no_fault_of_the_node() -> None:
    missing = PROGRAM.run("no-such-program-anywhere")
    for line in (
        *PROGRAM.gpus(missing, expected=8),
        *PROGRAM.neuron(missing, expected=8),
        *PROGRAM.efa(missing, expected=8),
    ):
        assert (line.result, line.found) == ("skipped", "the image has no no-such-program-anywhere")


def test_a_program_that_hangs_has_failed() -> None:
    done = PROGRAM.run("sleep", "60", seconds=0.01)
    assert (done.code, done.output) == (1, "sleep did not end within 0 s")


class Metadata(BaseHTTPRequestHandler):
    """The instance metadata of a node: a token, then the name of its role."""

    def do_PUT(self) -> None:
        """Give a token."""
        self._answer("token")

    def do_GET(self) -> None:
        """Name the role to who has the token."""
        self._answer("NodeRole" if self.headers["X-aws-ec2-metadata-token"] == "token" else "")

    def _answer(self, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_pod_that_reaches_the_metadata_is_told_of() -> None:
    with HTTPServer(("127.0.0.1", 0), Metadata) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        reached = found(PROGRAM.metadata(f"127.0.0.1:{server.server_port}"))
        server.shutdown()
    not_reached = found(PROGRAM.metadata(f"127.0.0.1:{server.server_port}"))

    assert reached == [
        ("instance metadata", "ok", "reached: every pod here gets role NodeRole of the node")
    ]
    assert not_reached == [
        ("instance metadata", "ok", "not reached: no pod here gets the role of the node")
    ]
