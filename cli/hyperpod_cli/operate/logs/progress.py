"""What the lifecycle scripts were doing, by the lines that lifecycle/ logs."""

import re
from collections.abc import Iterable

# lifecycle/lib/log.sh, step.sh and on_create.sh write these.
_STEP = re.compile(r"(?:^|Z )\[(?P<step>[a-z_]+)\] (?P<text>.*)")
_BEGUN = re.compile(r"(?:^|Z )start: lifecycle scripts")
_DONE = re.compile(r"(?:^|Z )done: (?P<text>.*)")
_FAILED = re.compile(r"(?:^|Z )ERROR step (?P<step>[a-z_]+) failed")
# HyperPod itself writes these: awslabs/awsome-distributed-ai, hyperpod-mental-model.md.
_DOWNLOADED = "[SageMaker] Downloading lifecycle scripts"
_SUCCEEDED = "[SageMaker] The lifecycle scripts succeeded"


def progress_of(lines: Iterable[str]) -> str:
    """Return what lifecycle scripts were doing when they wrote the last line, as a sentence.

    A log may hold several attempts; the last one counts.

    Args:
        lines: The log, oldest first.
    """
    told = "The log does not tell what the scripts do."
    for line in lines:
        told = _told(line) or told
    return told


def _told(line: str) -> str | None:
    """Return what a line says of the progress; None for nothing."""
    if failed := _FAILED.search(line):
        return f"Step {failed['step']} failed, and the steps after it did not run."
    if done := _DONE.search(line):
        return f"The scripts are done: {done['text']}."
    if step := _STEP.search(line):
        return f"The last step that wrote something is {step['step']}: {step['text']}"
    if _BEGUN.search(line):
        return "The scripts have begun, and no step has written anything yet."
    if _DOWNLOADED in line:
        return "HyperPod downloads the scripts."
    return "The scripts succeeded." if _SUCCEEDED in line else None
