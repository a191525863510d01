"""What the lifecycle scripts were doing, by the log that they write."""

import pytest

from hyperpod_cli.operate.logs import progress_of

Z = "2026-11-01T00:00:00Z"
BEGUN = f"{Z} start: lifecycle scripts, 6 steps"
STEP = f"{Z} [nvidia_runtime] containerd runs GPUs with nvidia"

CASES = [
    ([], "The log does not show"),
    (["anything else"], "The log does not show"),
    (["[SageMaker] Downloading lifecycle scripts"], "HyperPod downloads the scripts."),
    ([BEGUN], "The scripts have begun"),
    ([BEGUN, STEP], "The last step that wrote something is nvidia_runtime: containerd runs GPUs"),
    (
        [BEGUN, STEP, f"{Z} ERROR step nvidia_runtime failed with exit code 1; the steps after"],
        "Step nvidia_runtime failed, and the steps after it did not run.",
    ),
    ([BEGUN, STEP, f"{Z} done: every step succeeded"], "The scripts are done: every step"),
    (
        [f"{Z} done: every step succeeded", "[SageMaker] The lifecycle scripts succeeded."],
        "The scripts succeeded.",
    ),
    # A later attempt.
    ([f"{Z} ERROR step nvidia_runtime failed with exit code 1", BEGUN, STEP], "The last step"),
]


@pytest.mark.parametrize(("lines", "told"), CASES)
def test_progress_is_a_sentence(lines: list[str], told: str) -> None:
    assert progress_of(lines).startswith(told)
