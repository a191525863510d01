"""Draws how a job went on after a fault: its steps over time."""

from __future__ import annotations

from hyperpod_cli.svg import Svg
from hyperpod_rehearsal.training import TrainingReport

_WIDTH, _HEIGHT = 880, 344
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 24, 76, 36
_STYLE = """
  .lost { fill: #ffebe9 }
  path.fault { stroke: #cf222e; stroke-width: 2 }
  text.fault { fill: #cf222e; font-weight: 600; text-anchor: end }
  .steps { fill: none; stroke: #0969da; stroke-width: 2.5 }
"""


def picture(report: TrainingReport) -> str:
    """Return an SVG of a job's steps over time, with the fault and what it cost."""
    end, steps = report.points[-1][0], report.points[-1][1]

    def x(seconds: float) -> float:
        return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * seconds / end, 1)

    def y(step: float) -> float:
        return round(_HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * step / steps, 1)

    svg = Svg(width=_WIDTH, style=_STYLE)
    title = f"A job of {steps} steps on {report.nodes} nodes survives the failure of one"
    svg.text(title, _LEFT, 32, style="title")
    about = "rehearse --scenario training-survives: steps of torchrun over time"
    svg.text(about, _LEFT, 54)
    bottom, fault, back = _HEIGHT - _BOTTOM, x(report.fault_seconds), x(report.back_seconds)
    svg.rect(fault, _TOP, back - fault, bottom - _TOP, style="lost")
    svg.path(f"M{_LEFT} {_TOP} V{bottom} H{_WIDTH - _RIGHT}")
    for step in range(0, steps + 1, max(steps // 4, 1)):
        svg.text(str(step), _LEFT - 10, y(step) + 4, style="end")
    for second in range(0, int(end) + 1, 10):
        svg.text(f"{second} s", x(second), bottom + 20, style="middle")
    svg.path(
        f"M{fault} {y(report.checkpoint)} H{x(_resumed(report))}", style="line dashed checkpoint"
    )
    for part in _parts(report):
        points = " L".join(f"{x(seconds)} {y(step)}" for seconds, step in part)
        svg.path(f"M{points}", style="steps")
    svg.path(f"M{fault} {_TOP} V{bottom}", style="fault")
    svg.text("a GPU node fails", fault - 8, _TOP + 14, style="fault")
    said = (
        "HyperPod replaces it",
        f"checkpoint of step {report.checkpoint}",
        f"{report.lost_steps} steps are done again",
    )
    for number, line in enumerate(said, start=1):
        svg.text(line, (fault + back) / 2, y(report.checkpoint) + 20 * number, style="middle")
    return svg.document(title=title, description=f"{about}; {'; '.join(said)}")


def _resumed(report: TrainingReport) -> float:
    """Return when the first step after the checkpoint was done again."""
    again = (point for point in report.points if point[0] > report.fault_seconds)
    return next(seconds for seconds, step, _ in again if step == report.checkpoint + 1)


def _parts(report: TrainingReport) -> list[list[tuple[float, int]]]:
    """Return the steps of the job before and after the fault."""
    parts: list[list[tuple[float, int]]] = [[]]
    for seconds, step, _ in report.points:
        if parts[-1] and step <= parts[-1][-1][1]:
            parts.append([])
        parts[-1].append((seconds, step))
    return parts
