"""`python -m limn`."""

from .cli.main import main

main()
