from clustering.conftest import with_few_rows

__all__ = ["with_few_rows"]
