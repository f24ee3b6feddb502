"""The product from outside: its command line, and the files it publishes."""
