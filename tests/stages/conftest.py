from clustering.conftest import cut, module_with_few_rows, with_few_rows

__all__ = ["cut", "module_with_few_rows", "with_few_rows"]
