"""Which chart of the HyperPod dependencies a rehearsal installs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hyperpod_cdk import Config
from hyperpod_stacks.packaged_chart import packaged_chart

STAND_IN = Path(__file__).resolve().parent / "chart" / "hyperpod-helm-chart"


@dataclass(frozen=True, kw_only=True, slots=True)
class ChartChoice:
    """A packaged chart or its directory, and what the rehearsal's output says of it."""

    path: Path
    description: str


def choose_chart(config: Config) -> ChartChoice:
    """Return the chart that a deployment would install, else the stand-in.

    The stand-in renders the official chart's objects by name, so that a rehearsal needs no
    network; it is never deployed anywhere else.
    """
    path = packaged_chart(config)
    if path is None:
        return ChartChoice(
            path=STAND_IN, description="the stand-in chart (`hyperpod-cdk charts` has not been run)"
        )
    return ChartChoice(path=path, description=str(path))
