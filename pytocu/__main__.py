"""``python -m pytocu``: the same as the command ``pytocu``."""

from pytocu.cli.main import main

raise SystemExit(main())
