"""Start MiniStack with the additions of this package."""

from rehearsal.aws import internals, parent_watch, settings


def main() -> None:
    """Check MiniStack's internals, register every addition, and serve until stopped."""
    values = settings.Settings.from_environment()
    if values.scratch:
        parent_watch.follow_parent(scratch=values.scratch)
    internals.require_names()
    # Only now: these import the names just checked.
    from ministack import app  # noqa: PLC0415

    from rehearsal.aws.additions import install  # noqa: PLC0415

    install(settings=values)
    app.main()


if __name__ == "__main__":
    main()
