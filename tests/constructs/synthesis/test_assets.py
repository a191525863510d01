"""Where the package finds the files beside its code; the installed case is the wheel's test."""

from pathlib import Path

import pytest

from hyperpod_cdk.synthesis.assets import asset_directory


@pytest.mark.parametrize("name", ["lambda", "lifecycle", "charts"])
def test_a_checkout_uses_its_own_directories(repository: Path, name: str) -> None:
    assert asset_directory(name) == repository / name


def test_a_missing_directory_says_what_to_do() -> None:
    with pytest.raises(FileNotFoundError, match=r"'nonsense' not found in .*; reinstall"):
        asset_directory("nonsense")
