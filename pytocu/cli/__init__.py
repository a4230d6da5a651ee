"""The command ``pytocu``: one file a subcommand, each with ``add_arguments(parser)`` and ``run(options)``."""
