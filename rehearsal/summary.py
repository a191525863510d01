"""What the rehearsal prints at its end."""

from collections.abc import Iterator
from pathlib import Path

from rehearsal.report import Report


def summarize(report: Report, *, report_path: Path) -> str:
    """Return the end of the rehearsal's output."""
    return "\n".join(_lines(report, report_path=report_path))


def _lines(report: Report, *, report_path: Path) -> Iterator[str]:
    yield "\nStacks"
    for stack in report.stacks:
        yield f"  {stack.name:24} {stack.status:24} {stack.seconds:6.1f} s"
    for name, outputs in report.outputs.items():
        yield f"\nOutputs of {name}"
        for key, value in outputs.items():
            yield f"  {key:26} {value}"
    if report.cluster is not None:
        yield f"\nHyperPod cluster {report.cluster.name} is {report.cluster.status}"
        for group in report.cluster.instance_groups:
            counts = f"{group['current_count']} of {group['target_count']}"
            yield f"  {group['name']:24} {group['instance_type']:24} {counts} running"
    if report.release is not None:
        release = report.release
        name = f"{release.namespace}/{release.name}"
        yield f"\nHelm release {name}: {release.chart}, {release.status}"
    failed = [check.check for check in report.verify if not check.ok]
    if failed:
        yield "\nFailed checks"
        yield from (f"  {check}" for check in failed)
    if report.error is not None:
        yield "\nError"
        yield from (f"  {line}" for line in report.error.splitlines())
    verdict = "succeeded" if report.ok else "FAILED"
    passed = len(report.verify) - len(failed)
    yield (
        f"\nRehearsal {verdict} in {report.seconds:.0f} s: "
        f"{passed} of {len(report.verify)} checks passed. Report: {report_path}; logs beside it."
    )
