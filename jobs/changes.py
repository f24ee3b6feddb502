"""`crawl-dedup changes` for spark-submit: what became of each page from one snapshot to a later one."""

import sys

from dedup_lib.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["changes", *sys.argv[1:]]))
