"""What was found, as a table, as JSON and as JUnit's XML."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from rich.table import Table

from hyperpod_cli.terminal import console
from hyperpod_cli.terminal.output import visible


class Result(StrEnum):
    """What came of a check."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """What a check found.

    Attributes:
        check: Its name, such as GPUs.
        expected: What there should be, and who says so; may be empty.
        advice: What to do; may be empty.
    """

    check: str
    subject: str
    result: Result
    found: str
    expected: str = ""
    advice: str = ""


_STYLES = {Result.OK: "green", Result.FAILED: "bold red", Result.SKIPPED: "yellow"}


def table(findings: Sequence[Finding]) -> Table:
    """Return a table with a row for each finding; equal ones, but for failures, share a row."""
    made = console.table("check", "subject", "result", "found", "expected")
    for finding, subjects in _rows(findings):
        cells = (finding.check, subjects, finding.result, finding.found, finding.expected)
        made.add_row(*(console.styled(cell, _STYLES[finding.result]) for cell in cells))
    return made


def _rows(findings: Sequence[Finding]) -> Iterator[tuple[Finding, str]]:
    def row(finding: Finding) -> tuple[str, ...]:
        alone = finding.subject if finding.result is Result.FAILED else ""
        return (finding.check, finding.result, finding.found, finding.expected, alone)

    order = {finding.check: number for number, finding in reversed([*enumerate(findings)])}
    for _, equal in groupby(sorted(findings, key=lambda item: (order[item.check], row(item))), row):
        first, *others = equal
        yield first, f"{first.subject} and {len(others)} more" if others else first.subject


def advice(findings: Sequence[Finding]) -> list[str]:
    """Return what to do about all that failed, or that was skipped, each once."""
    return [*dict.fromkeys(finding.advice for finding in findings if finding.advice)]


def counted(count: int, noun: str) -> str:
    """Return a number of things in words."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def is_ok(findings: Sequence[Finding]) -> bool:
    """Say whether something was checked, and nothing of it failed."""
    results = {finding.result for finding in findings}
    return Result.OK in results and Result.FAILED not in results


def summary(findings: Sequence[Finding]) -> str:
    """Return how many checks passed, failed and were skipped, in a sentence."""
    results = [finding.result for finding in findings]
    ok, bad, skipped = (results.count(result) for result in Result)
    counts = f"{counted(len(findings), 'check')}: {ok:,} ok, {bad:,} failed, {skipped:,} skipped."
    if is_ok(findings) or bad:
        return counts
    return f"{counts} Nothing was checked, which counts as a failure."


def as_json(findings: Sequence[Finding], **more: Any) -> Mapping[str, Any]:
    """Return the findings for programs, with what else they are to know."""
    complete = all(finding.result is not Result.SKIPPED for finding in findings)
    return {
        "ok": is_ok(findings),
        "complete": complete,
        **more,
        "findings": [asdict(finding) for finding in findings],
    }


def junit(findings: Sequence[Finding]) -> bytes:
    """Return the findings as JUnit's XML, which continuous integration reads.

    https://github.com/testmoapp/junitxml
    """
    results = [finding.result for finding in findings]
    counts = {
        "name": "validate-nodes",
        "tests": str(len(results)),
        "failures": str(results.count(Result.FAILED)),
        "skipped": str(results.count(Result.SKIPPED)),
    }
    suite = Element("testsuite", counts)
    elements = {Result.FAILED: "failure", Result.SKIPPED: "skipped"}
    for finding in findings:
        expected = f" (expected: {finding.expected})" if finding.expected else ""
        text = visible(f"{finding.found}{expected}")
        case = SubElement(
            suite, "testcase", classname=visible(finding.check), name=visible(finding.subject)
        )
        if finding.result in elements:
            SubElement(case, elements[finding.result], message=text).text = visible(finding.advice)
        else:
            SubElement(case, "system-out").text = text
    indent(suite)
    written: bytes = tostring(suite, encoding="utf-8", xml_declaration=True)
    return written
