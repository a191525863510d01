"""Draws how a job went on after a fault: its steps over time."""

from __future__ import annotations

from html import escape

from hyperpod_rehearsal.training import TrainingReport

_WIDTH, _HEIGHT = 880, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 24, 76, 52


def picture(report: TrainingReport) -> str:
    """Return an SVG of a job's steps over time, with the fault and what it cost."""
    end, steps = report.points[-1][0], report.points[-1][1]

    def x(seconds: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * seconds / end

    def y(step: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * step / steps

    bottom, fault, back = _HEIGHT - _BOTTOM, x(report.fault_seconds), x(report.back_seconds)
    lines = [
        f'<rect x="{fault:.1f}" y="{_TOP}" width="{back - fault:.1f}" '
        f'height="{bottom - _TOP}" class="lost"/>',
        f'<path class="axis" d="M{_LEFT} {_TOP}V{bottom}H{_WIDTH - _RIGHT}"/>',
        *(
            f'<text x="{_LEFT - 10}" y="{y(step) + 4:.1f}" class="end">{step}</text>'
            for step in range(0, steps + 1, max(steps // 4, 1))
        ),
        *(
            f'<text x="{x(second):.1f}" y="{bottom + 20}" class="middle">{second} s</text>'
            for second in range(0, int(end) + 1, 10)
        ),
        f'<path class="checkpoint" d="M{fault:.1f} {y(report.checkpoint):.1f}'
        f'H{x(_resumed(report)):.1f}"/>',
        *(
            '<polyline points="'
            + " ".join(f"{x(seconds):.1f},{y(step):.1f}" for seconds, step in part)
            + '"/>'
            for part in _parts(report)
        ),
        f'<path class="fault" d="M{fault:.1f} {_TOP}V{bottom}"/>',
        f'<text x="{fault - 8:.1f}" y="{_TOP + 14}" class="end fault">a GPU node fails</text>',
        *(
            f'<text x="{(fault + back) / 2:.1f}" y="{y(report.checkpoint) + 20 * line:.1f}" '
            f'class="middle">{said}</text>'
            for line, said in enumerate(
                (
                    "HyperPod replaces it",
                    f"checkpoint of step {report.checkpoint}",
                    f"{report.lost_steps} steps are done again",
                ),
                start=1,
            )
        ),
    ]
    title = f"A job of {steps} steps on {report.nodes} nodes survives the failure of one"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
            f'role="img" aria-label="{escape(title)}">',
            f"<style>{_STYLE}</style>",
            f'<rect width="{_WIDTH}" height="{_HEIGHT}" rx="8" class="page"/>',
            f'<text x="{_LEFT}" y="32" class="title">{escape(title)}</text>',
            f'<text x="{_LEFT}" y="54">rehearse --scenario training-survives: steps of torchrun '
            "over time</text>",
            *lines,
            "</svg>\n",
        ]
    )


def _resumed(report: TrainingReport) -> float:
    """Return when the first step after the checkpoint was done again."""
    again = (each for each in report.points if each[0] > report.fault_seconds)
    return next(seconds for seconds, step, _ in again if step == report.checkpoint + 1)


def _parts(report: TrainingReport) -> list[list[tuple[float, int]]]:
    """Return the steps of the job before and after the fault."""
    parts: list[list[tuple[float, int]]] = [[]]
    for seconds, step, _ in report.points:
        if parts[-1] and step <= parts[-1][-1][1]:
            parts.append([])
        parts[-1].append((seconds, step))
    return parts


_STYLE = """
text{font:13px system-ui,sans-serif;fill:#3d444d}
.title{font-size:16px;font-weight:600}
.page{fill:#fff}
.middle{text-anchor:middle}
.end{text-anchor:end}
.axis{fill:none;stroke:#8b949e}
.lost{fill:#ffebe9}
.checkpoint{stroke:#8b949e;stroke-dasharray:4 4}
path.fault{stroke:#cf222e;stroke-width:2}
text.fault{fill:#cf222e;font-weight:600}
polyline{fill:none;stroke:#0969da;stroke-width:2.5}
"""
