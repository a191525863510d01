"""Until when EKS supports a Kubernetes version, and until when at the normal price."""

from collections.abc import Mapping
from datetime import date
from typing import Final

# https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html, "release calendar", as
# https://endoflife.date/amazon-eks had it in February 2026.
END_OF_STANDARD_SUPPORT: Final[Mapping[str, date]] = {
    "1.30": date(2025, 7, 23),
    "1.31": date(2025, 11, 26),
    "1.32": date(2026, 3, 23),
    "1.33": date(2026, 7, 29),
    "1.34": date(2026, 12, 2),
    "1.35": date(2027, 3, 27),
}
"""By Kubernetes version: the day on which extended support begins, which costs more."""

# Twelve months later, as the same page says.
END_OF_EXTENDED_SUPPORT: Final[Mapping[str, date]] = {
    version: end.replace(year=end.year + 1) for version, end in END_OF_STANDARD_SUPPORT.items()
}
"""By Kubernetes version: the day from which on EKS upgrades a cluster by itself, and makes none."""


def minor(version: str) -> int:
    """Return the minor version, such as 34 of 1.34, or of a release that begins with it."""
    return int(version.split(".")[1])
