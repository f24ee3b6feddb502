"""Entry points for spark-submit: one file per command, the same options and exit codes as `crawl-dedup`."""
