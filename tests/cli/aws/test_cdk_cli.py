"""What is passed on of what the CDK CLI writes."""

from hyperpod_cli.aws.cdk_cli import without_chatter

WARNING = "WARNING eks.admins: [] lets nobody into the Kubernetes cluster"
BELOW = [
    "   ml-hyperpod aws-cdk-lib.Stack",
    "   Acknowledge with 'Annotation::hyperpod-cdk:no_admins'",
    "",
]


def test_a_warning_is_one_line_and_said_once() -> None:
    coloured = f"\x1b[33mWARNING\x1b[39m{WARNING.removeprefix('WARNING')} (Annotation)"
    lines = [
        "Bundling asset ml-platform/Provisioner/OnEvent/Code/Stage...",
        coloured,
        *BELOW,
        f"{WARNING} (Annotation)",
        *BELOW,
        "Successfully synthesized to /project/cdk.out/default",
        "Supply a stack id (ml-platform) to display its template.",
    ]
    assert [*without_chatter(f"{line}\n" for line in lines)] == [WARNING]


def test_a_refusal_is_told_in_the_words_of_the_app() -> None:
    refused = "nope: cannot be read: No such file or directory"
    ended = "python3 app.py: Subprocess exited with error 2"
    assert [*without_chatter([refused, ended])] == [refused]


def test_what_is_no_chatter_is_passed_on() -> None:
    lines = [
        "Stack ml-hyperpod",
        "   [~] AWS::IAM::Role",
        "",
        "\x1b[31mno credentials\x1b[39m",
        'PATH="$PWD/.venv/bin:$PATH" python3 app.py: Subprocess exited with error 1',
    ]
    assert [*without_chatter(lines)] == lines
