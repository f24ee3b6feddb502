"""`crawl-dedup resolve` for spark-submit: which captures are one page."""

import sys

from dedup_lib.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["resolve", *sys.argv[1:]]))
