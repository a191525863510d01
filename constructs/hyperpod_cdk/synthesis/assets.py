"""Where the files that this package ships with its code are found."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def asset_directory(name: str) -> Path:
    """Return the directory `name` (`lambda`, `lifecycle`, `charts`) of this package's assets.

    Returns:
        The copy inside an installed wheel, else the checkout's own directory.

    Raises:
        FileNotFoundError: Neither exists, so the installation is incomplete.
    """
    candidates = (_PACKAGE / "_assets" / name, _PACKAGE.parent.parent / name)
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(
        f"hyperpod_cdk: asset directory {name!r} not found in {candidates[0]} or {candidates[1]}; "
        "reinstall the package"
    )
