"""`sgtool prune`: old checkpoints and leftovers of a directory, removed."""

from __future__ import annotations

import click

from .. import options, render


@options.command
@click.argument("directory")
@click.option(
    "--keep", type=click.IntRange(1), required=True, help="How many of the newest checkpoints stay."
)
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@options.as_json
def command(directory: str, keep: int, dry_run: bool, as_json: bool) -> None:
    """Remove all but the newest complete checkpoints from DIRECTORY, and what interrupted writes left there.

    The state file forgets a checkpoint before it goes, and the one that it calls the latest always
    stays. Incomplete checkpoints are told and left alone.

    Examples:
      sgtool prune checkpoints --keep 5 --dry-run
      sgtool prune checkpoints --keep 1

    --json gives {"directory", "dry_run", "kept": [prefixes], "removed": [prefixes], "leftovers": [paths],
    "incomplete": [prefixes], "files": {path: bytes}, "bytes"}.
    """
    from ...formats import prune

    chosen = prune.plan(directory, keep)
    if not dry_run:
        prune.carry_out(chosen)
    total = sum(chosen.files.values())
    if as_json:
        render.document(
            {
                "directory": chosen.directory,
                "dry_run": dry_run,
                "kept": chosen.kept,
                "removed": chosen.removed,
                "leftovers": chosen.leftovers,
                "incomplete": chosen.incomplete,
                "files": chosen.files,
                "bytes": total,
            }
        )
        return
    for prefix in chosen.kept:
        render.line(f"  keep    {prefix}")
    for path in [*chosen.removed, *chosen.leftovers]:
        render.line(f"  remove  {path}")
    for prefix in chosen.incomplete:
        render.message(f"{prefix} is incomplete; `sgtool verify {prefix}` says what is missing. It stays.")
    verb = "Would remove" if dry_run else "Removed"
    render.line(f"{verb} {render.counted(len(chosen.files), 'file')}, {render.size(total)}.")
