"""`crawl-dedup cluster` for spark-submit: verified clusters and representatives."""

import sys

from dedup_lib.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["cluster", *sys.argv[1:]]))
