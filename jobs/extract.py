"""`crawl-dedup extract` for spark-submit: archives or tables of text to documents, and what is none."""

import sys

from dedup_lib.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["extract", *sys.argv[1:]]))
