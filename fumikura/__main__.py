"""`python -m fumikura` is the command line."""

from fumikura.cli import main

main()
