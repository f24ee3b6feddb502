"""`crawl-dedup global` for spark-submit: clusters across the snapshots of a store."""

import sys

from dedup_lib.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["global", *sys.argv[1:]]))
