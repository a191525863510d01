"""What answers in the place of AWS."""

from typing import Any


class Answers:
    """A boto3 session, and its clients, that answer each operation, or raise."""

    def __init__(self, **answers: object) -> None:
        self._answers = answers

    def __getattr__(self, operation: str) -> Any:  # noqa: ANN401 - of any operation
        answer = self._answers[operation]

        def call(**_asked: object) -> object:
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call
