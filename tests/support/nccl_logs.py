"""Logs in the formats of NCCL, aws-ofi-nccl and nccl-tests, with Open MPI's tags.

https://github.com/NVIDIA/nccl-tests/blob/master/src/common.cu
https://github.com/aws/aws-ofi-nccl/blob/master/src/nccl_ofi_net.cpp
"""

from collections.abc import Iterator, Sequence

_HEADER = """\
# nThread 1 nGpus 1 minBytes 1073741824 maxBytes 17179869184 step: 2(factor) warmup iters: 5
#
# Using devices
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)"""  # noqa: E501


def nccl_log(
    hosts: Sequence[str],
    *,
    bandwidth: float,
    on_tcp: Sequence[str] = (),
    nics: int = 32,
    wrong: int = 0,
    tagged: bool = True,
) -> str:
    """Return what an all_reduce_perf writes, of which one process of each host is shown."""
    lines = [*_chosen(hosts, on_tcp, nics), *_HEADER.splitlines()]
    for power in (30, 32, 34):
        size = 1 << power
        best = bandwidth * (0.9 if power < 34 else 1)
        cells = f"{size / best / 1e3:8.1f}  {best / 1.9:6.2f}  {best:6.2f}  {wrong:5d}"
        lines.append(f"{size:12d}  {size // 4:12d}     float     sum      -1 {cells} {cells}")
    lines.append(f"# Out of bounds values : {wrong} {'FAILED' if wrong else 'OK'}")
    lines.append(f"# Avg bus bandwidth    : {bandwidth * 0.93:.4f}")
    return "".join(f"{'[1,0]<stdout>:' if tagged else ''}{line}\n" for line in lines)


def _chosen(hosts: Sequence[str], on_tcp: Sequence[str], nics: int) -> Iterator[str]:
    for number, host in enumerate(hosts):
        of = f"{host}:{100 + number}:{200 + number} [0] NCCL INFO"
        yield f"{of} NET/Plugin: Loaded net plugin Libfabric (v10)"
        if host in on_tcp:
            yield f"{of} NET/OFI No eligible providers were found"
            yield f"{of} NET/Socket : Using [0]eth0:10.1.0.{number}<0>"
            yield f"{of} Using network Socket"
        else:
            yield f"{of} NET/OFI Selected provider is efa, fabric is efa-direct (found {nics} nics)"
            yield f"{of} Using network Libfabric"
