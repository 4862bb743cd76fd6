"""The `sgtool` group: finds a command's file when it is called, and turns its errors into exit codes."""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Sequence

import click

from ..formats import files
from . import exit_codes
from .options import CONTEXT_SETTINGS, QUIET, VERBOSE, Settings

# In the order in which a newcomer meets them; the file `commands/<name>.py` (with `_` for `-`)
# has the click command `command`.
COMMANDS = (
    "build",
    "train",
    "save",
    "inspect",
    "verify",
    "restore",
    "run",
    "convert",
    "freeze",
    "extract",
    "strip",
    "rename",
    "merge",
    "set-shape",
    "diff",
    "prune",
    "ops",
    "demo",
)


class LazyGroup(click.Group):
    """A group whose commands are imported one at a time, when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in the order of the help text."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None."""
        if cmd_name not in COMMANDS:
            return None
        file = cmd_name.replace("-", "_")
        command: click.Command = importlib.import_module(f".commands.{file}", __package__).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that `args` begins with; a wrong name is refused with the nearest ones."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS)
            hint = f" Did you mean {' or '.join(near)}?" if near else f" There are: {', '.join(COMMANDS)}."
            ctx.fail(f"No such command '{args[0]}'.{hint}")
        return super().resolve_command(ctx, args)


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"sgtool {version('sgtool')}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    context_settings=CONTEXT_SETTINGS,
    epilog="""\b
Examples:
  sgtool demo                                          all of it, on a shipped sample
  sgtool inspect model.ckpt-1000.meta                  what is in there
  sgtool verify model.ckpt-1000                        is it whole?
  sgtool run model.ckpt-1000 --fetch y:0 --feed x:0=data.npy
  sgtool save model.ckpt-1000 -o weights.h5            the variables, elsewhere
  sgtool convert model.ckpt-1000 frozen.pb             all of it, as something else

`sgtool COMMAND -h` shows a command's options and examples.""",
)
@click.option("-v", "--verbose", count=True, help=VERBOSE)
@click.option("-q", "--quiet", is_flag=True, help=QUIET)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version.",
)
@click.pass_context
def group(ctx: click.Context, verbose: int, quiet: bool) -> None:
    """Open, run, train, rewrite and convert TensorFlow 1 graphs and checkpoints, without TensorFlow."""
    settings = ctx.ensure_object(Settings)
    settings.verbose, settings.quiet = verbose, quiet


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the tool and give its exit code; nothing is raised but what ends the process."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    settings = Settings()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name of any bytes can be shown
    stdout = sys.stdout
    try:
        with files.remembered():
            code = group.main(given, prog_name="sgtool", obj=settings, standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        return exit_codes.close_broken_stdout()
    except SystemExit as error:
        # click makes of a broken pipe an exit with 1; that it wraps stdout then is all that it leaves to see
        if sys.stdout is not stdout:
            return exit_codes.close_broken_stdout()
        return exit_codes.report(error, verbose=False, as_json=False)
    except BaseException as error:
        return exit_codes.report(error, verbose=settings.verbose > 0, as_json=_wants_json(given))
    return code if isinstance(code, int) else exit_codes.OK


def _wants_json(arguments: list[str]) -> bool:
    # From the words themselves: an error may come before click has read the options.
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options
