"""Rules on PriorityClasses: one mistake, one line, with its place."""

from typing import Any

import pytest

from tests.conftest import Configure
from tests.support.refusals import helm_lines


def classes(*names: str, **others: object) -> list[dict[str, object]]:
    return [{"name": name, "value": 1, **others} for name in names]


@pytest.mark.parametrize(
    ("helm", "start", "part"),
    [
        pytest.param(
            {"priority_classes": classes("system-mine")},
            "helm.priority_classes[0].name: 'system-mine' must not start with system-",
            "Kubernetes",
            id="system",
        ),
        pytest.param(
            {"priority_classes": classes("training-priority")},
            "helm.priority_classes[0].name: 'training-priority' must not end with -priority",
            "task governance",
            id="governance",
        ),
        pytest.param(
            {"priority_classes": classes("Training")},
            "helm.priority_classes[0].name: 'Training' must be 1 to 63 lower-case letters",
            "",
            id="upper-case",
        ),
        pytest.param(
            {"priority_classes": classes("a", value=1_000_000_001)},
            "helm.priority_classes[0].value: 1000000001 must be -2147483648 to 1000000000",
            "",
            id="too-great",
        ),
        pytest.param(
            {"priority_classes": classes("a", preemption_policy="never")},
            "helm.priority_classes[0].preemption_policy: 'never' is not a policy",
            "did you mean Never?",
            id="policy",
        ),
        pytest.param(
            {"priority_classes": classes("a", "b", "a")},
            "helm.priority_classes[2].name: 'a' is already the name of [0]",
            "",
            id="twice",
        ),
        pytest.param(
            {"priority_classes": classes("a", "b", global_default=True)},
            "helm.priority_classes[1].global_default: true must be false, for it is true for a",
            "",
            id="two-defaults",
        ),
    ],
)
def test_mistake_gives_one_line(helm: dict[str, Any], start: str, part: str) -> None:
    (line,) = helm_lines(helm)

    assert line.startswith(start)
    assert part in line


@pytest.mark.parametrize("value", [None, [], classes("a", "b.c-d", global_default=False)])
def test_priority_classes_may_be_others_or_none(value: object, configure: Configure) -> None:
    listed = configure({"helm": {"priority_classes": value}}).helm.priority_classes

    assert [item.name for item in listed or ()] == (["a", "b.c-d"] if value else [])
