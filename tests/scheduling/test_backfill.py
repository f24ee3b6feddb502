"""A back-fill by a real scheduler: dates side by side, and the global step one date after the other."""

import json
import time
from pathlib import Path

import pytest

from scheduling.airflow_home import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

DAYS = ("2026-03-01", "2026-03-02")
WAIT_SECONDS = 1200
BACKFILL = ("backfill", "create", "--dag-id", "daily", "--max-active-runs", "2", "--reprocess-behavior", "completed")
DAILY = """\
from airflow.sdk import timezone
from crawl_dedup_dag import crawl_dedup_dag

daily = crawl_dedup_dag(
    "daily", schedule="@daily", start_date=timezone.datetime(2026, 3, 1), parallel=2, **{defaults!r}
)
"""


def test_dates_are_deduplicated_side_by_side_and_added_to_the_global_version_in_order(airflow, params, tmp_path):
    across = (ROOT / "jobs" / "global.py").exists()
    listed = f"{tmp_path}/{{date}}.paths"  # not for today: the run that is scheduled when the DAG is unpaused waits
    for day in DAYS:
        (tmp_path / f"{day}.paths").write_bytes(Path(params["list_file"]).read_bytes())
    defaults = params | {"list_file": listed, "inputs": [f"@{listed}"], "add_to_global": across}
    (airflow.dags / "daily.py").write_text(DAILY.format(defaults=defaults))
    with airflow.serving(tmp_path):
        _until(lambda: airflow.query("select 1 from dag where dag_id = 'daily'"), tmp_path)
        for arguments in (("dags", "unpause", "daily"), (*BACKFILL, "--from-date", DAYS[0], "--to-date", DAYS[1])):
            done = airflow.run(*arguments)
            assert done.returncode == 0, done.stdout
        _until(lambda: _states(airflow) in (["failed"] * 2, ["success"] * 2), tmp_path)

    assert _states(airflow) == ["success"] * 2, _logs(tmp_path)
    for day in DAYS:
        place = Path(params["root"]) / "_published" / "source=example" / f"snapshot=day-{day}.json"
        assert set(json.loads(place.read_text())["stages"]) == {"extract", "resolve", "sign", "cluster"}
    first, second = _spans(airflow, "extract")
    assert max(first[0], second[0]) < min(first[1], second[1])
    if across:
        first, second = _spans(airflow, "global")
        assert first[1] <= second[0]


def _until(reached, logs):
    end = time.monotonic() + WAIT_SECONDS
    while not reached():
        assert time.monotonic() < end, _logs(logs)
        time.sleep(1)


def _states(airflow):
    return [
        state
        for (state,) in airflow.query("select state from dag_run where run_type = 'backfill' order by logical_date")
    ]


def _spans(airflow, task):
    """Start and end of a task, for each date."""
    return airflow.query(
        "select t.start_date, t.end_date from task_instance t join dag_run r using (dag_id, run_id) "
        f"where run_type = 'backfill' and task_id = '{task}' order by logical_date"
    )


def _logs(folder):
    return "\n".join(f"{path.name}:\n{path.read_text()[-3000:]}" for path in folder.glob("*.log"))
