"""Standard output and standard error: what is not ours is shown, and a terminal that is gone."""

import errno
import os
import re
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import Any
from unicodedata import category

_UNUSUAL = re.compile("[^\t\n\x20-\x7e]")
# Controls, what formats or turns text around or has no width, and other ends of lines. Half a
# surrogate pair is in JSON of AWS when a text was cut off, and no encoding takes it.
# https://www.unicode.org/reports/tr44/#General_Category_Values
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Of other categories, but blank: https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
# A terminal that was hung up: https://pubs.opengroup.org/onlinepubs/9799919799/functions/write.html
_GONE = (errno.EIO, errno.EPIPE)


def visible(text: str) -> str:
    r"""Return a text, maybe foreign, with what does not show as Python writes it: `\x1b`.

    That is controls, also of the direction of text, and what has no width, such as joiners.
    """
    return _UNUSUAL.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    character = found[0]
    if category(character) in _INVISIBLE or character in _BLANK:
        return character.encode("unicode_escape").decode("ascii")
    return character


class Output:
    """A standard stream on which control characters are visible, also where it is no terminal.

    When nothing reads standard output any more, one write raises BrokenPipeError, and what follows
    is dropped. On standard error, where such an error would be told, everything is dropped.

    Args:
        stream: The stream.
        is_read: Whether a command has nothing to do where nothing reads it.
        is_styled: Whether control characters are passed on, for colors. Default: they are shown.
    """

    def __init__(self, stream: Any, *, is_read: bool, is_styled: bool = False) -> None:  # noqa: ANN401
        self._stream = stream
        self._is_read = is_read
        self._is_styled = is_styled

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - of the stream
        return getattr(self._stream, name)

    @property
    def styled(self) -> "Output":
        """The same stream for who has made foreign text visible, and writes colors."""
        return Output(self._stream, is_read=self._is_read, is_styled=True)

    def write(self, text: str) -> int:
        """Write a text."""
        try:
            self._stream.write(text if self._is_styled else visible(text))
        except OSError as error:
            self._drop(error)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Write what is kept back."""
        try:
            self._stream.flush()
        except OSError as error:
            self._drop(error)

    def _drop(self, error: OSError) -> None:
        if error.errno not in _GONE:
            raise error
        # A thread that draws would die with a traceback; the main thread's next write fails, too.
        if threading.current_thread() is not threading.main_thread():
            return
        # So that the last flush succeeds.
        # https://docs.python.org/3/library/signal.html#note-on-sigpipe
        drop(self._stream)
        if self._is_read:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from error


def drop(stream: Any) -> None:  # noqa: ANN401 - a stream, or what is in place of one
    """Let all that is written from now on to a stream go nowhere."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def protect() -> None:
    """Show control characters in all that this process writes from now on."""
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name)
        # There is none if it was closed before.
        if stream is not None and not isinstance(stream, Output):
            setattr(sys, name, Output(stream, is_read=name == "stdout"))
