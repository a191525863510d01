"""docs/closed-network.md lists the endpoints that a closed network has."""

from tools.generate.endpoint_table import TARGET, render


def test_the_endpoints_are_those_of_the_construct() -> None:
    page = TARGET.read_text("utf-8")
    stale = "docs/closed-network.md is stale: run `python -m tools.generate.endpoint_table`"

    assert page.count("<!-- endpoints -->") == 1
    assert render(page) == page, stale
