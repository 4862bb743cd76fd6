"""`python -m sgtool.cli` is `sgtool`."""

from . import main

main()
