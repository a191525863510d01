"""Start MiniStack with the additions of this package."""

import gc

from hyperpod_emulator.aws.ministack_version import require_version
from hyperpod_emulator.aws.settings import follow_parent, own_settings


def main() -> None:
    """Check MiniStack's version, register every addition, and serve until stopped."""
    gc.set_threshold(100_000, 50, 50)
    if own_settings().scratch:
        follow_parent(scratch=own_settings().scratch)
    require_version()
    # Only now: these use the names of that version.
    from hyperpod_emulator.aws.additions import install  # noqa: PLC0415
    from hyperpod_emulator.aws.ministack import app  # noqa: PLC0415

    install()
    gc.freeze()
    app.main()


if __name__ == "__main__":
    main()
