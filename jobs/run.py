"""`crawl-dedup run` for spark-submit: all four stages of one snapshot, published at once."""

import sys

from dedup_lib.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["run", *sys.argv[1:]]))
