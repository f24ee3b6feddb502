import pytest

from .sessions import few_rows, parquet_cut


@pytest.fixture(scope="session")
def cut(tmp_path_factory):
    return parquet_cut(tmp_path_factory.mktemp("cut"))


@pytest.fixture
def with_few_rows(spark):
    with few_rows(spark):
        yield


@pytest.fixture(scope="module")
def module_with_few_rows(spark):
    with few_rows(spark):
        yield
