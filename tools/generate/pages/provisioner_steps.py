"""Write docs/adr/provisioner-steps.md: what the provisioner does next about a HyperPod cluster."""

import inspect
from collections.abc import Callable
from pathlib import Path

from provisioner.hyperpod.decision import STATES
from provisioner.hyperpod.steps import Create, Delete, Done, Fail, Step, Wait
from tools.generate import REPOSITORY
from tools.generate.marks import table

TARGET = REPOSITORY / "docs" / "adr" / "provisioner-steps.md"
_HEADER = """# What the provisioner does next

`on_event` and every poll of `Custom::HyperPodCluster` look at the cluster and at the journal. The
first state that holds has the rows, and the first row that holds the step
([why](hyperpod-cluster.md#27-one-reconciler-decides-from-the-described-cluster)). This page is
generated from `lambda/provisioner/hyperpod/decision.py`.
"""
_WORDS = {Create: "CreateCluster", Delete: "DeleteCluster", Done: "succeed", Fail: "fail"}


def render() -> dict[Path, str]:
    """Return the page."""
    parts = [_HEADER]
    for holds, rows in STATES:
        lines = ((_first_line(when), _step(step)) for when, step in rows)
        parts.append(f"## {_first_line(holds)}\n\n{table(('when', 'step'), lines)}")
    return {TARGET: "\n".join(parts)}


def _step(step: Step | Callable[..., Step]) -> str:
    if callable(step):
        return _first_line(step)
    return (
        f"wait: {step.why}" if isinstance(step, Wait) else _WORDS.get(type(step), "list the nodes")
    )


def _first_line(function: object) -> str:
    """Return what a condition or a step says of itself."""
    return (inspect.getdoc(function) or "").partition("\n")[0].rstrip(".")
