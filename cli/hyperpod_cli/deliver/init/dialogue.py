"""Writes a commented configuration from a few answers, and says what it deploys and costs."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hyperpod_cdk.schema.section import EKS, ORCHESTRATORS
from hyperpod_cli.deliver.init.questions import (
    ADMIN,
    QUESTIONS,
    AnswerError,
    Question,
    answered,
    first_answers,
)
from hyperpod_cli.deliver.init.template import SCHEMA, Answers, configuration, schema_of
from hyperpod_cli.deliver.new_file import refuse_existing, report, write_new
from hyperpod_cli.terminal.atomic_file import PUBLIC, replace_file
from hyperpod_cli.terminal.console import is_terminal
from hyperpod_cli.terminal.errors import INTERRUPTED, OpsError


def write_configuration(
    given: Mapping[str, str | None], *, config: Path | None, orchestrator: str = EKS
) -> int:
    """Write a file from answers, given or asked for; return 0, or 130 after Ctrl-C."""
    if orchestrator not in ORCHESTRATORS:
        known = " or ".join(ORCHESTRATORS)
        raise OpsError(f"--orchestrator: {orchestrator!r} must be {known}")
    try:
        if config is not None:
            refuse_existing(config)
        answers = _answers(given, config=config, orchestrator=orchestrator)
        path = config or _path(answers.name)
        written = write_new(configuration(answers, path=path), path=path)
        _write_schema(schema_of(path))
    except (KeyboardInterrupt, EOFError):
        print("\nNothing is written.", file=sys.stderr)
        return INTERRUPTED
    print("\n".join(report(written, path=path)))
    return 0


def _write_schema(path: Path) -> None:
    """Write the schema that a new file names, unless it names the project's."""
    if path == SCHEMA:
        return
    try:
        replace_file(path, SCHEMA.read_bytes(), mode=PUBLIC)
    except OSError as error:
        raise OpsError(f"{path}: cannot be written: {error.strerror}") from None


def _answers(given: Mapping[str, str | None], *, config: Path | None, orchestrator: str) -> Answers:
    """Return the answers that are given, and those to what is asked for the others."""
    if orchestrator != EKS and given[ADMIN] is not None:
        raise OpsError(f"{ADMIN}: is for EKS; leave it out")
    questions = [each for each in QUESTIONS if orchestrator == EKS or each.key != ADMIN]
    # Without a terminal, nobody is an admin unless that is asked for.
    missing = [
        question.key
        for question in questions
        if given[question.key] is None and (question.key != ADMIN or is_terminal())
    ]
    if missing and not is_terminal():
        keys = " ".join(missing)
        raise OpsError(f"There is no terminal for questions; add to the command line: {keys}")
    if missing:
        print("Return takes what is in brackets; Ctrl-C ends without a file.")
    answers = replace(first_answers(), orchestrator=orchestrator)
    refused: dict[str, AnswerError] = {}
    for question in questions:
        text = given[question.key]
        if text is None and question.key not in missing:
            continue
        path = config or _path(answers.name)
        if question.after in refused:
            continue
        try:
            if text is None:
                answers = _asked(question, answers=answers, path=path)
            else:
                answers = answered(question, text, answers=answers, path=path)
        except AnswerError as error:
            if missing:
                raise
            refused[question.key] = error
        if question.key == "--name" and config is None and not refused:
            refuse_existing(_path(answers.name))
    if refused:
        raise AnswerError("\n".join(map(str, refused.values())))
    return answers


def _asked(question: Question, *, answers: Answers, path: Path) -> Answers:
    default = question.given(answers)
    while True:
        text = input(f"{question.text(answers)} [{default}]: ").strip() or default
        try:
            return answered(question, text, answers=answers, path=path)
        except AnswerError as error:
            print(f"  {error}")


def _path(name: str) -> Path:
    folder = Path("config")
    return (folder if folder.is_dir() else Path()) / f"{name}.yaml"
