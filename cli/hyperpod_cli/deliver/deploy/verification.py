"""What `hyperpod-cdk verify` finds right after a deployment, within a limited time."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from queue import Empty, Queue
from threading import Thread

from rich.console import Console

from hyperpod_cli.inspect.verification.check import Check
from hyperpod_cli.inspect.verification.verify import check_once, not_looked_at
from hyperpod_cli.plan.request import DeploymentRequest
from hyperpod_cli.terminal.explained import explained

LIMIT_SECONDS = 60.0
_ALL, _REST = "what is deployed", "the rest of what is deployed"


def verification_of(
    request: DeploymentRequest,
    *,
    succeeded: bool,
    outputs: Mapping[str, Mapping[str, str]],
    out: Console,
) -> list[Check]:
    """Return the checks of a deployment that has ended, whose stacks have these outputs."""
    later = f"hyperpod-cdk verify {request.place}"
    if not succeeded:
        return not_verified("The deployment did not succeed", later=later)
    # Of those that --only has left out.
    for stack in request.all_stacks:
        if stack.template.get("Outputs") and stack.name not in outputs:
            return not_verified(f"{stack.name} is not deployed, or not known", later=later)
    checks = check_once(request.config, session=request.session, outputs=outputs)
    return verified(checks, later=later, out=out)


def verified(
    checks: Iterable[Check], *, later: str, out: Console, seconds: float = LIMIT_SECONDS
) -> list[Check]:
    """Return checks of what is deployed; a deployment stays as good without them.

    They are made in a thread of their own. It is left alone when the time is over or after Ctrl-C,
    and a fault in it is one more check that says so.
    """
    made: Queue[Check | None] = Queue()
    done: list[Check] = []
    deadline = time.monotonic() + seconds
    try:
        Thread(target=_make, args=(checks, made), daemon=True).start()
        out.print(f"Looking whether it works, for up to {seconds:.0f} s; Ctrl-C skips that ...")
        with out.status("") as status:
            while (check := made.get(timeout=max(0.0, deadline - time.monotonic()))) is not None:
                done.append(check)
                status.update(f"{len(done)}: {check.title}")
    except Empty:
        done.append(not_looked_at(_REST, why=f"There was no answer within {seconds:.0f} s"))
    except (KeyboardInterrupt, BrokenPipeError):
        while not made.empty() and (check := made.get()) is not None:
            done.append(check)
        done.append(not_looked_at(_REST, why="It was interrupted"))
    return [each if each.is_known else _with(each, later=later) for each in done]


def not_verified(why: str, *, later: str) -> list[Check]:
    """Return the checks of a deployment of which nothing could be looked at."""
    return [_with(not_looked_at(_ALL, why=why), later=later)]


def _make(checks: Iterable[Check], made: Queue[Check | None]) -> None:
    why = "A fault of this program, shown above"
    try:
        for check in checks:
            made.put(check)
        why = ""
    except Exception as error:
        lines = explained(error)
        if lines is None:
            raise
        why = " ".join(lines)
    finally:
        if why:
            made.put(not_looked_at(_REST, why=why))
        made.put(None)


def _with(check: Check, *, later: str) -> Check:
    """Return a check that says by which command it is made later."""
    first = f"{check.advice}. Then run" if check.advice else "Run"
    return replace(check, advice=f"{first} `{later}`")
