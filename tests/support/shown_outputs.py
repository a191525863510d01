"""The verify commands of docs/verify.md, and the outputs that it shows beside them."""

import re

from tests.support.configs import REPOSITORY

_DIFFERS = re.compile(
    r"hyperpod-i-\w+"
    r"|\b(?:\d+[hms]){1,2}\b"  # ages
    r"|\d+(?=\s+\d{4}-\d\d-\d\d )"  # revisions of a release
    r"|v[\d.]+-\w+"
    r"|\d{4}-\d\d-\d\d [\d:.]+ \+0000"
    r"|/\S+/\.kube"
    r"|:\d{12}:"
)
_COLUMNS = re.compile(r"\t|  +")


def verify_commands() -> dict[str, list[list[str]]]:
    """Return each command that docs/verify.md shows an output of, with the shape of that output."""
    page = (REPOSITORY / "docs" / "verify.md").read_text("utf-8")
    block = page.partition("<!-- verify -->\n```bash\n")[2].partition("```")[0]
    parts = re.findall(r"^([^#\n].*)\n((?:# .*\n)+)", block, re.MULTILINE)
    return {command: shape(re.sub("^# ", "", output, flags=re.M)) for command, output in parts}


def shape(output: str) -> list[list[str]]:
    """Return the columns of each line, the lines sorted, without what differs each time."""
    lines = [_COLUMNS.split(_DIFFERS.sub("...", line)) for line in output.splitlines()]
    return sorted([column.strip() for column in line if column.strip()] for line in lines)
