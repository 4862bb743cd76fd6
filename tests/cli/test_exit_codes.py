"""One table from errors to exit codes."""

from __future__ import annotations

import click
import pytest

from sgtool.cli import exit_codes
from sgtool.formats import errors


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (click.UsageError("x"), 2),
        (errors.NotFoundError("x"), 3),
        (errors.MissingFileError("x"), 3),
        (errors.MissingNameError("x"), 3),
        (FileNotFoundError(2, "No such file", "p"), 3),
        (errors.DataLossError("x"), 4),
        (errors.InvalidArgumentError("x"), 5),
        (errors.InvalidValueError("x"), 5),
        (errors.InvalidTypeError("x"), 5),
        (errors.AlreadyExistsError("x"), 5),
        (errors.UnimplementedError("x"), 6),
        (errors.MissingExtraError("x"), 6),
        (errors.FailedPreconditionError("x"), 7),
        (errors.PermissionDeniedError("x"), 7),
        (errors.OutOfRangeError("x"), 7),
        (errors.InvalidArgumentError(None, object(), "in a kernel"), 7),
        (OSError(28, "No space left on device", "p"), 7),
        (errors.InternalError("x"), 70),
        (ZeroDivisionError("x"), 70),
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
    ],
)
def test_codes(error: BaseException, code: int) -> None:
    assert exit_codes.code_of(error) == code


def test_every_class_of_the_tree_has_a_code() -> None:
    for kind in errors.EXCEPTION_BY_CODE.values():
        assert exit_codes.code_of(kind("x")) in {3, 4, 5, 6, 7, 70}


def test_an_error_as_json_has_code_message_and_fields(capsys: pytest.CaptureFixture[str]) -> None:
    import json

    error = errors.MissingNameError("No 'w'.", name="w", nearest=["v"])
    assert exit_codes.report(error, verbose=False, as_json=True) == 3
    shown = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert shown == {
        "code": 3,
        "error": "MissingNameError",
        "message": "No 'w'.",
        "name": "w",
        "nearest": ["v"],
    }


def test_a_bug_says_how_to_report_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_codes.report(ZeroDivisionError("oops"), verbose=False, as_json=False) == 70
    shown = capsys.readouterr().err
    assert "ZeroDivisionError: oops" in shown
    assert "bug in sgtool" in shown
    assert "Traceback" not in shown
    try:
        raise ZeroDivisionError("oops")
    except ZeroDivisionError as error:
        exit_codes.report(error, verbose=True, as_json=False)
    assert "Traceback" in capsys.readouterr().err
