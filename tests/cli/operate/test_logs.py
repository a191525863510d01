"""What the lifecycle scripts were doing, by the log that they write."""

from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.operate.logs import progress_of

Z = "2026-11-01T00:00:00Z"
BEGUN = f"{Z} start: lifecycle scripts, 6 steps"
STEP = f"{Z} [nvidia_runtime] containerd runs GPUs with nvidia"

FAILED = f"{Z} ERROR step nvidia_runtime failed with exit code 1"
DONE = f"{Z} done: every step succeeded"

CASES = {
    "nothing": [],
    "anything else": ["anything else"],
    "before": ["[SageMaker] Downloading lifecycle scripts"],
    "begun": [BEGUN],
    "a step": [BEGUN, STEP],
    "failed": [BEGUN, STEP, FAILED],
    "done": [BEGUN, STEP, DONE],
    "known to SageMaker": [DONE, "[SageMaker] The lifecycle scripts succeeded."],
    "a later attempt": [FAILED, BEGUN, STEP],
}


def test_progress_is_a_sentence(snapshot: SnapshotAssertion) -> None:
    assert {name: progress_of(lines) for name, lines in CASES.items()} == snapshot
