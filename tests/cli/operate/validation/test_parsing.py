"""Logs of NCCL are read: what carried the data, and how fast."""

import pytest

from hyperpod_cli.operate.validation.findings import Result
from hyperpod_cli.operate.validation.parsing import nccl_run, node_findings
from tests.support.nccl_logs import nccl_log

HOSTS = ("v-worker-0", "v-worker-1")
INFO = "v-worker-0:74:81 [3] NCCL INFO"

PROVIDERS = [
    (f"{INFO} NET/OFI Selected provider is efa, fabric is efa-direct (found 32 nics)", {"efa"}),
    (f"{INFO} NET/OFI Selected Provider is efa (found 4 nics)", {"efa"}),
    (f"[1,5]<stdout>:{INFO} NET/OFI Selected Provider is efa (found 4 nics)", {"efa"}),
    (f"{INFO} NET/OFI Selected Provider is tcp;ofi_rxm (found 1 nics)", {"tcp;ofi_rxm"}),
    (f"{INFO} Using network Socket", {"TCP"}),
    (f"{INFO} Channel 00/0 : 9[1] -> 0[0] [receive] via NET/Socket/0", {"TCP"}),
    (f"{INFO} Channel 00/0 : 9[1] -> 0[0] [receive] via NET/AWS Libfabric/0/GDRDMA", set()),
    (f"{INFO} Using network AWS Libfabric", set()),
    (f"{INFO} Using network Libfabric", set()),
    (f"{INFO} Using network IB", {"IB"}),
    # It is there, and not used.
    (f"{INFO} NET/Socket : Using [0]eth0:10.1.83.4<0>", set()),
    ("an echo of NET/OFI Selected provider is efa", set()),
]


@pytest.mark.parametrize(("line", "providers"), PROVIDERS)
def test_the_provider(line: str, providers: set[str]) -> None:
    found = nccl_run([line])
    assert found.providers == providers
    assert found.on_tcp == ({"v-worker-0"} if "TCP" in providers else set())


ROWS = [
    # With a root, as it is today; without, as it was until 2.12; without a check.
    ("1073741824 268435456 float sum -1 35215 30.49 57.17 0 35198 30.51 57.20 0", 57.20, 0),
    ("1073741824 268435456 float sum 35215 30.49 57.17 4e-07 35198 30.51 57.20 4e-07", 57.20, 0),
    ("  8  2  float  sum  -1  50.58  0.00  0.00  N/A  54.46  0.00  0.01  N/A", 0.01, 0),
    ("1024 256 float sum -1 35215 30.49 57.17 3 35198 30.51 57.10 4", 57.17, 7),
    ("# Out of bounds values : 12 FAILED", None, 12),
    ("# Avg bus bandwidth    : 57.1", None, 0),
    ("1024 256 float sum -1 35215 30.49", None, 0),
    ("1024 256 float sum -1 x x x 0 x x x 0", None, 0),
]


@pytest.mark.parametrize(("line", "bandwidth", "wrong"), ROWS)
def test_the_bandwidth(line: str, bandwidth: float | None, wrong: int) -> None:
    found = nccl_run([line])
    assert (found.bus_bandwidth, found.wrong) == (bandwidth, wrong)


@pytest.mark.parametrize("tagged", [True, False])
def test_a_whole_log(tagged: bool) -> None:
    found = nccl_run(nccl_log(HOSTS, bandwidth=412.5, tagged=tagged).splitlines())
    assert ({*found.providers}, found.bus_bandwidth) == ({"efa"}, 412.5)
    mixed = nccl_run(nccl_log(HOSTS, bandwidth=3, on_tcp=[HOSTS[1]]).splitlines())
    assert ({*mixed.providers}, {*mixed.on_tcp}) == ({"efa", "TCP"}, {HOSTS[1]})


def test_the_first_warning_is_told() -> None:
    lines = [
        f"{INFO.replace('INFO', 'WARN')} NET/OFI Request completed with error",
        f"{INFO.replace('INFO', 'WARN')} later",
    ]
    assert nccl_run(lines).warning == "NET/OFI Request completed with error"


def test_lines_of_the_program_are_findings() -> None:
    lines = [
        "warning: something else",
        '{"check": "GPUs", "result": "failed", "found": "7", "expected": "8"}',
        '{"check": "GPUs", "result": "perhaps", "found": "7", "expected": "8"}',
        "{broken",
        '{"other": 1}',
    ]
    (found,) = node_findings(lines, subject="n")
    assert (found.check, found.subject, found.result) == ("GPUs", "n", Result.FAILED)
