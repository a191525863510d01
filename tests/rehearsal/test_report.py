"""The end of a rehearsal's output."""

from pathlib import Path

from rehearsal.report import Fact, Report, StackReport, deployment_lines, summarize

PATH = Path("build/rehearsal/report.json")
PAGE = PATH.with_suffix(".html")


def test_nothing_is_said_of_what_never_was() -> None:
    said = summarize(Report(config="c", scenario="default", error="it broke"), report_path=PATH)
    assert said.splitlines() == [
        "",
        "Error",
        "  it broke",
        "",
        f"Rehearsal FAILED in 0 s. Report: {PAGE}; logs next to it.",
    ]


def test_what_was_kept_is_not_shown_again_after_it_is_gone() -> None:
    outputs = {"ml-platform": {"GrantAdminCommand": "aws eks create-access-entry"}}
    stacks = [StackReport(name="ml-platform", status="CREATE_COMPLETE", seconds=3.0)]
    report = Report(config="c", scenario="default", ok=True, stacks=stacks, outputs=outputs)
    assert "aws eks create-access-entry" in "\n".join(deployment_lines(report))
    said = summarize(report, report_path=PATH, kept=True).splitlines()
    assert said == [
        "",
        f"Rehearsal succeeded in 0 s. Report: {PAGE}; logs next to it.",
    ]


def test_an_error_that_a_scenario_brings_on_purpose_is_no_failure() -> None:
    report = Report(
        config="c",
        scenario="quota-exceeded",
        ok=True,
        seconds=20.4,
        stacks=[StackReport(name="ml-hyperpod", status="ROLLBACK_COMPLETE", seconds=3.0)],
        outputs={"ml-hyperpod": {}, "ml-storage": {"FileSystemId": "fs-1"}},
        verify=[Fact(check="the error says what is wrong and what to do", ok=True)],
        error="no quota",
    )
    lines = summarize(report, report_path=PATH).splitlines()
    assert "Outputs of ml-hyperpod" not in lines
    assert "Outputs of ml-storage" in lines
    assert "The error, as it had to come" in lines
    assert lines[-1].startswith("Rehearsal succeeded in 20 s. 1 of 1 checks passed. ")
