"""The picture of the dashboards in the documentation."""

from html import unescape

from hyperpod_cdk.panels.subjects import SUBJECTS
from tests.prometheus.picture import PICTURE, drawn
from tests.prometheus.server import Prometheus, everything
from tests.support.browser import digest, source_of


def test_the_picture_is_of_todays_panels(prometheus: Prometheus) -> None:
    text = drawn(prometheus)

    shown = [
        panel.title
        for subject in SUBJECTS.values()
        for panel in everything().panels_of(subject)
        if panel.promql
    ]
    assert [title for title in shown if title not in unescape(text)] == []
    assert source_of(PICTURE.read_bytes()) == digest(text.encode()), (
        "docs/dashboards.png is stale: run `make dashboard-picture`"
    )
