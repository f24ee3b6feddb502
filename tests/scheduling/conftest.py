"""One Airflow for these tests, and a crawl for each of their modules."""

from typing import Any

import pytest

from scheduling.airflow_home import OTHER, ROOT, AirflowHome, airflow_environment, write_pages

SHARED = b"the quick brown fox jumps over the lazy dog and runs home before the rain begins to fall"


@pytest.fixture(scope="session")
def airflow(tmp_path_factory: pytest.TempPathFactory) -> AirflowHome:
    home = AirflowHome(airflow_environment(), tmp_path_factory.mktemp("airflow"))
    home.prepare()
    return home


@pytest.fixture(scope="module")
def params(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Parameters of the DAG: three pages, two of them with one text, and the Spark properties of a small machine."""
    folder = tmp_path_factory.mktemp("crawl")
    write_pages(folder / "pages.warc", SHARED, SHARED, OTHER)
    (folder / "pages.paths").write_text(f"{folder / 'pages.warc'}\n")
    properties = (ROOT / "conf" / "spark-local.conf").read_text()
    (folder / "spark.conf").write_text(f"{properties}\nspark.driver.memory 1g\nspark.sql.shuffle.partitions 2\n")
    return {
        "source": "example",
        "snapshot": "day-%Y-%m-%d",
        "list_file": str(folder / "pages.paths"),
        "inputs": [f"@{folder / 'pages.paths'}"],
        "root": str(folder / "store"),
        "config": str(ROOT / "conf" / "local.yaml"),
        "properties_file": str(folder / "spark.conf"),
    }
