"""The commands behind the make targets; importing the package makes Ctrl-C end them in one line.

Each takes a second to import what it needs, before it can catch anything itself.
"""

import sys
from types import TracebackType


def _without_traceback(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    if issubclass(kind, KeyboardInterrupt):
        # Python goes on to end by the signal, as whoever started it expects.
        print("\nInterrupted.", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, traceback)


sys.excepthook = _without_traceback
