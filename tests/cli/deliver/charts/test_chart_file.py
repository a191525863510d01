"""Chart.yaml says what a chart is called, and of which version it is."""

from pathlib import Path

import pytest

from hyperpod_cli.deliver.charts.archives import read_chart_directory
from hyperpod_cli.deliver.charts.helm import ChartError


def test_a_chart_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "Chart.yaml").write_text("name: chart\nversion: 0.1\n")

    found = read_chart_directory(tmp_path)

    assert (found.name, found.version, found.requirements) == ("chart", "0.1", [])


@pytest.mark.parametrize(
    "text",
    [
        "version: 0.1.0\n",
        "name: chart\n",
        "name: chart\nversion: 0.1.0\ndependencies: [{version: 0.2.0}]\n",
        "text\n",
        "a: [\n",
    ],
)
def test_a_chart_file_that_lacks_a_name_or_a_version_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "Chart.yaml").write_text(text)

    with pytest.raises(ChartError, match=r"Chart\.yaml is not a valid Chart\.yaml: "):
        read_chart_directory(tmp_path)
