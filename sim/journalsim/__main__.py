"""``python -m journalsim`` is the command ``journalsim``."""

from journalsim.cli import main

if __name__ == "__main__":
    main()
