"""Start MiniStack with the additions of this package."""

import gc

from emulator.aws.ministack import app, require_names
from emulator.aws.parent_process import Settings, follow_parent


def main() -> None:
    """Check MiniStack's names, register every addition, and serve until stopped."""
    gc.set_threshold(100_000, 50, 50)
    settings = Settings.from_environment()
    if settings.scratch:
        follow_parent(scratch=settings.scratch)
    require_names()
    # Only now: these use the names just checked.
    from emulator.aws.additions import install  # noqa: PLC0415

    install(settings=settings)
    gc.freeze()
    app.main()


if __name__ == "__main__":
    main()
