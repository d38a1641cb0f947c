"""`python -m sawtooth.cli`, for where no `sawtooth` is installed in the path."""

from sawtooth.cli import main

main()
