"""The picture of the dashboards in the documentation."""

from pathlib import Path

from hyperpod_cdk.panels.subjects import SUBJECTS
from tests.prometheus.picture import PICTURE, page
from tests.prometheus.server import Prometheus, everything
from tests.support.browser import digest, looked_at, source_of


def test_the_picture_is_of_todays_panels(prometheus: Prometheus, tmp_path: Path) -> None:
    text = page(prometheus)
    file = tmp_path / "dashboards.html"
    file.write_text(text, "utf-8")
    (seen,) = looked_at(file)

    shown = [
        panel.title
        for subject in SUBJECTS.values()
        for panel in everything().panels_of(subject)
        if panel.promql
    ]
    assert [title for title in shown if f"{title}" not in text] == []
    assert not (seen["complaints"] or seen["notLoaded"] or seen["requests"])
    assert source_of(PICTURE.read_bytes()) == digest(text.encode()), (
        "docs/dashboards.png is stale: run `make dashboard-picture`"
    )
