"""`python -m limn`."""

from .main import main

main()
