"""`python -m picsc_cli` is `picsc`."""

from picsc_cli.app import main

main()
