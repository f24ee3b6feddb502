"""`crawl-dedup sign` for spark-submit: the signature feature store."""

import sys

from dedup_lib.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["sign", *sys.argv[1:]]))
