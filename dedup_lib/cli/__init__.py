"""The command line: reading, publishing and printing around the stages."""
