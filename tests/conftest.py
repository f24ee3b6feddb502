"""One Spark session for all tests."""

import os
import sys
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from dedup_lib.cli.java import find_java, launcher_home


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    folder = tmp_path_factory.mktemp("spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable  # workers take python3 of PATH otherwise
    settings = {
        "spark.driver.memory": "2g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": " ".join(
            (
                *("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m"),  # else it is 48 MB, full in a minute
                *("-XX:+UseSerialGC", f"-Dderby.system.home={folder}"),
            )
        ),
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.execution.arrow.pyspark.validateSchema.enabled": "true",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # INT96, the default, is read without a zone
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[2]").appName("tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with pytest.MonkeyPatch.context() as patch:  # as the product does: the machine may have no Java of its own
        patch.setenv("JAVA_HOME", str(launcher_home(find_java())))
        session = builder.getOrCreate()
    yield session
    session.stop()
