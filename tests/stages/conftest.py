import pytest
from clustering.sessions import parquet_cut


@pytest.fixture(scope="session")
def cut(tmp_path_factory):
    return parquet_cut(tmp_path_factory.mktemp("cut"))
