"""What is said of a Kubernetes version that EKS supports no longer, or not for long."""

from datetime import date

import pytest

from hyperpod_cli.inspect.preflight.validators.kubernetes_support import support_findings
from tests.support.configs import configured


@pytest.mark.parametrize(
    ("version", "day", "said"),
    [
        ("1.30", date(2026, 11, 22), "ended on 2026-07-23: EKS makes no such cluster"),
        ("1.31", date(2026, 11, 26), "ended on 2026-11-26"),
        ("1.31", date(2026, 11, 25), "ends on 2026-11-26: EKS upgrades the cluster then"),
        ("1.32", date(2026, 11, 25), None),
        ("1.34", date(2026, 12, 2), None),
    ],
)
def test_the_end_of_extended_support_is_told(version: str, day: date, said: str | None) -> None:
    config = configured({"eks": {"version": version}})
    lines = [str(finding) for finding in support_findings(config, day=day)]
    assert len(lines) == (said is not None)
    assert said is None or said in lines[0]
    assert said is None or lines[0].startswith(f"eks.version: '{version}' ")
