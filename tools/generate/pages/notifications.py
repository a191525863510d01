"""The kinds of messages, in the page about observability."""

import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from tools.generate import REPOSITORY
from tools.generate.marks import table, with_part

TARGET = REPOSITORY / "docs" / "observability.md"
# The folder is no package: the function's own code begins in it.
_FUNCTIONS = str(REPOSITORY / "lambda")


# The sections of docs/messages.md, where they are not the usual one.
_CAUSES = defaultdict(
    lambda: "causes-of-missing-nodes",
    {"node-group-degraded": "causes-of-failed-eks-node-groups"},
)


def render() -> Mapping[Path, str]:
    """Return the page with its table."""
    if _FUNCTIONS not in sys.path:
        sys.path.append(_FUNCTIONS)
    from notifier.decision import KINDS  # noqa: PLC0415 - it is found now

    rows = [
        (
            f"`{name}`",
            kind.when,
            f"HyperPod CLUSTER: {_shown(kind.subject)}",
            _shown(kind.next_step or f"what [the cause](messages.md#{_CAUSES[name]}) says"),
        )
        for name, kind in KINDS.items()
    ]
    text = table(("kind", "when", "subject", "what to do"), rows)
    return {TARGET: with_part(TARGET.read_text("utf-8"), mark="notifications", text=text)}


def _shown(text: str) -> str:
    return text.format(
        group="group GROUP", instance="NODE", cause="CAUSE", repair="reboot or replacement"
    )
