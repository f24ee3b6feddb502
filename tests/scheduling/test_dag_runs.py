"""`airflow dags test` runs the DAG to its end: spark-submit, a local Spark, a store."""

import json
from pathlib import Path

import pytest

from scheduling.airflow_home import OTHER, ROOT, write_pages

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

STAGES = ("extract", "resolve", "sign", "cluster")


def test_a_date_runs_to_the_end_and_the_same_date_again_makes_and_announces_nothing(airflow, params):
    first = airflow.test_dag("crawl_dedup", "2026-05-01", params)

    assert first.returncode == 0, first.stdout[-5000:]
    version, counts = _published(params, "day-2026-05-01"), _counts(airflow)
    assert counts["snapshot"] == "day-2026-05-01"
    assert counts["runs"] == {stage: version["stages"][stage]["run"] for stage in STAGES}
    assert {name: counts["counts"]["cluster"][name] for name in ("captures", "kept", "exact")} == {
        "captures": 3,
        "kept": 2,
        "exact": 1,
    }
    assert counts["counts"]["extract"]["documents"] == 3
    assert [json.loads(extra) for (extra,) in airflow.query("select extra from asset_event")] == [counts]
    assert _made(params) == [[stage] for stage in STAGES]

    second = airflow.test_dag("crawl_dedup", "2026-05-01", params)

    assert second.returncode == 0, second.stdout[-5000:]
    assert _published(params, "day-2026-05-01") == version
    assert _counts(airflow) == counts
    assert _made(params) == [*([stage] for stage in STAGES), *[[]] * 4]
    assert _states(airflow)["announce"] == ("skipped", 1)
    assert airflow.query("select count(*) from asset_event") == [(1,)]


def test_a_stage_whose_checks_fail_ends_the_run_at_its_first_try(airflow, params, tmp_path):
    write_pages(tmp_path / "empty.warc", b"", OTHER)
    refused = params | {
        "snapshot": "refused",
        "inputs": [str(tmp_path / "empty.warc")],
        "overrides": ["run.max_reject_fraction=0"],
    }

    ended = airflow.test_dag("crawl_dedup", "2026-05-02", refused)

    assert ended.returncode != 0
    assert "Error code is: 4." in ended.stdout
    states = _states(airflow)
    assert states["extract"] == ("failed", 1)
    assert states["resolve"][0] == states["counts"][0] == states["announce"][0] == "upstream_failed"
    assert not (Path(params["root"]) / "_published" / "source=example" / "snapshot=refused.json").exists()


@pytest.mark.skipif(not (ROOT / "jobs" / "global.py").exists(), reason="there is no global job")
def test_dates_are_added_to_the_global_version_one_after_the_other(airflow, params):
    dates = ["2026-04-01", "2026-04-02"]  # before the date that failed, which later ones would wait for
    for number, day in enumerate(dates, 1):
        ended = airflow.test_dag("crawl_dedup", day, params | {"add_to_global": True})
        assert ended.returncode == 0, ended.stdout[-5000:]
        assert _states(airflow)["global"] == ("success", 1)

        made_from = json.loads((Path(params["root"]) / "_published" / "global.json").read_text())["stages"]["global"]
        days = [name.removeprefix("example/day-") for name in made_from["made_from"] if "/" in name]
        assert sorted(days) == dates[:number]


def _published(params, snapshot):
    place = Path(params["root"]) / "_published" / "source=example" / f"snapshot={snapshot}.json"
    return json.loads(place.read_text())


def _made(params):
    """What each run made, in the order of the runs."""
    records = [json.loads(path.read_text()) for path in (Path(params["root"]) / "_runs").glob("*.json")]
    return [record["made"] for record in sorted(records, key=lambda record: record["started_at"])]


def _counts(airflow):
    [(value,)] = airflow.query("select value from xcom where task_id = 'counts' and key = 'return_value'")
    return json.loads(value)


def _states(airflow):
    """State and tries of each task in the latest run."""
    latest = "select run_id from dag_run order by id desc limit 1"
    rows = airflow.query(f"select task_id, state, try_number from task_instance where run_id = ({latest})")
    return {task: (state, tries) for task, state, tries in rows}
