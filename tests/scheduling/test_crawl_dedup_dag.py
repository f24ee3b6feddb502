"""The DAG in a real Airflow: its structure, what it submits, what it waits for and what it tells others."""

import json
from functools import partial
from http.server import SimpleHTTPRequestHandler
from itertools import pairwise

import pytest
from services.running import QuietServer, running

pytestmark = pytest.mark.slow

NEWS = """\
from airflow.sdk import timezone
from crawl_dedup_dag import crawl_dedup_dag

news = crawl_dedup_dag(
    "news",
    schedule="@weekly",
    start_date=timezone.datetime(2026, 1, 4),
    catchup=True,
    parallel=3,
    spark={"executor_memory": "8g", "pool": "own_pool"},
    source="news",
    snapshot="news-%G-%V",
    inputs=["s3://crawl/{snapshot}/*.warc.gz"],
    root="/shared/store",
    add_to_global=True,
)
"""
DESCRIBE = """
from pathlib import Path
from airflow.dag_processing.dagbag import BundleDagBag
folder = Path({folder!r})
bag = BundleDagBag(folder, bundle_path=folder, bundle_name="dags-folder")
def task(one):
    names = ("pool", "retries", "depends_on_past", "mode", "application")
    told = {{name: getattr(one, name, None) for name in names}}
    told |= {{"after": sorted(one.upstream_task_ids), "policy": type(getattr(one, "retry_policy", None)).__name__}}
    limit = one.execution_timeout
    return told | {{"timeout": limit and limit.total_seconds(), "outlets": [asset.name for asset in one.outlets]}}
result = {{
    "errors": bag.import_errors,
    "warnings": bag.captured_warnings,
    "dags": {{
        name: {{
            "tasks": {{one.task_id: task(one) for one in dag.tasks}},
            "params": dag.params.dump(),
            "active": dag.max_active_runs,
            "catchup": dag.catchup,
        }}
        for name, dag in bag.dags.items()
    }},
}}
"""
RUN_TIME = """
import sys
from datetime import datetime, UTC
sys.path.insert(0, {dags!r})
import crawl_dedup_dag as made
from airflow.sdk.exceptions import AirflowFailException
params = {{name: default for name, (default, *_) in made.PARAMS.items()}} | {params!r}
context = {{"params": params, "logical_date": {day}}}
"""


@pytest.fixture(scope="module")
def described(airflow, tmp_path_factory):
    return _describe(airflow, tmp_path_factory.mktemp("dags"), NEWS)


@pytest.fixture
def at_run_time(airflow):
    """The value of an expression over `made`, the module of the DAG, and the `context` of a task of 1 May 2026."""

    def value(expression, *, day="datetime(2026, 5, 1, tzinfo=UTC)", **params):
        start = RUN_TIME.format(dags=str(airflow.dags), params=params, day=day)
        return airflow.python(f"{start}\nresult = {expression}")

    return value


def test_the_dag_and_those_made_of_it_import_without_errors_or_warnings(described):
    assert (described["errors"], described["warnings"]) == ({}, {})
    assert set(described["dags"]) == {"crawl_dedup", "news"}


def test_stages_follow_each_other_and_the_global_step_is_beside_the_announcement(described):
    assert {name: task["after"] for name, task in described["dags"]["crawl_dedup"]["tasks"].items()} == {
        "wait_for_list": [],
        "extract": ["wait_for_list"],
        "resolve": ["extract"],
        "sign": ["resolve"],
        "cluster": ["sign"],
        "counts": ["cluster"],
        "announce": ["counts"],
        "global_wanted": ["counts"],
        "global": ["global_wanted"],
    }


def test_each_stage_submits_its_job_with_pool_time_limit_and_retries_by_exit_code(described):
    tasks = described["dags"]["crawl_dedup"]["tasks"]
    for stage in ("extract", "resolve", "sign", "cluster", "global"):
        task = tasks[stage]
        assert task["application"].endswith(f"/jobs/{stage}.py")
        assert (task["retries"], task["policy"], task["timeout"]) == (3, "RetryByExitCode", 24 * 3600)
    assert {name: task["pool"] for name, task in tasks.items() if task["pool"] != "default_pool"} == {
        **dict.fromkeys(("extract", "resolve", "sign", "cluster"), "crawl_dedup"),
        "global": "crawl_dedup_global",
    }


def test_only_the_global_step_waits_for_the_date_before(described):
    for dag in described["dags"].values():
        assert [name for name, task in dag["tasks"].items() if task["depends_on_past"]] == ["global"]


def test_the_sensor_leaves_its_slot_between_looks_and_the_asset_is_of_the_dag(described):
    tasks = described["dags"]["news"]["tasks"]
    assert tasks["wait_for_list"]["mode"] == "reschedule"
    assert {name: task["outlets"] for name, task in tasks.items() if task["outlets"]} == {
        "announce": ["news_representatives"]
    }


def test_a_dag_of_ones_own_has_its_schedule_its_defaults_and_its_spark_arguments(described):
    news = described["dags"]["news"]
    assert (news["active"], news["catchup"], news["tasks"]["sign"]["pool"]) == (3, True, "own_pool")
    given = {"source": "news", "root": "/shared/store", "add_to_global": True, "snapshot": "news-%G-%V"}
    assert {name: news["params"][name] for name in given} == given
    assert news["params"]["overrides"] == []


def test_a_default_that_is_no_parameter_is_refused(airflow, tmp_path):
    errors = _describe(airflow, tmp_path, NEWS.replace("root=", "output="))["errors"]
    assert [message.splitlines()[-1] for message in errors.values()] == [
        "TypeError: output is no parameter of news: there are source, snapshot, list_file, inputs, crawl_date, root, "
        "config, overrides, replace, properties_file, add_to_global"
    ]


def test_extract_gets_the_snapshot_of_the_logical_date_and_every_parameter(at_run_time):
    arguments = at_run_time(
        "made._stage_arguments('extract')(context=context, jinja_env=None)",
        source="news",
        snapshot="news-%Y-%m-%d",
        inputs=["/crawl/{snapshot}/*.warc.gz", "@/lists/{date}/50%25{x}.paths"],
        crawl_date="{date}",
        root="/store",
        config="conf/local.yaml",
        overrides=["sign.bands=14", "cluster.threshold=0.9"],
        replace=True,
    )
    assert arguments == [
        *("--source", "news", "--snapshot", "news-2026-05-01"),
        *("--input", "/crawl/news-2026-05-01/*.warc.gz", "--input", "@/lists/2026-05-01/50%25{x}.paths"),
        *("--crawl-date", "2026-05-01", "--replace", "--output", "/store", "--config", "conf/local.yaml"),
        *("--set", "sign.bands=14", "--set", "cluster.threshold=0.9"),
    ]


def test_later_stages_get_no_inputs(at_run_time):
    arguments = at_run_time("made._stage_arguments('sign')(context=context)", crawl_date="{date}", root="/store")
    assert arguments == ["--source", "crawl", "--snapshot", "snapshot-2026-05-01", "--output", "/store"]


def test_a_run_without_a_logical_date_needs_a_snapshot_that_is_named(at_run_time):
    assert at_run_time("made.snapshot_of(context)", day="None", snapshot="once") == "once"
    refused = """None
try:
    made.snapshot_of(context)
except AirflowFailException as error:
    result = str(error)"""
    assert at_run_time(refused, day="None").startswith("this run has no logical date to name a snapshot by")


def test_the_global_step_adds_its_snapshot_to_those_that_are_in_and_still_there(at_run_time, tmp_path):
    made_from = {"crawl/april": "r1", "crawl/gone": "r2", "wiki/all": "r3", "global": "r0"}
    (tmp_path / "_published" / "source=crawl").mkdir(parents=True)
    (tmp_path / "_published" / "source=wiki").mkdir()
    for place, stages in {
        "global": {"global": {"made_from": made_from}},
        "source=crawl/snapshot=april": {"cluster": {}},
        "source=crawl/snapshot=gone": {},  # removed, and kept for its readers
        "source=crawl/snapshot=july": {"cluster": {}},  # clustered by a back-fill, and not yet its turn
        "source=wiki/snapshot=all": {"cluster": {}},
    }.items():
        (tmp_path / "_published" / f"{place}.json").write_text(json.dumps({"format": 1, "stages": stages}))

    arguments = at_run_time("made.global_arguments(context=context)", root=str(tmp_path), snapshot="may")

    against = [value for option, value in pairwise(arguments) if option == "--against"]
    assert against == ["crawl/april", "wiki/all", "crawl/may"]
    assert arguments[-2:] == ["--output", str(tmp_path)]


def test_the_sensor_sees_a_list_on_disk_and_on_the_web(at_run_time, tmp_path):
    (tmp_path / "snapshot-2026-05-01.paths").touch()
    look = "made.ListSensor(task_id='wait').poke(context)"
    server = QuietServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=tmp_path))
    with running(server) as port:
        for place in (str(tmp_path), f"file://{tmp_path}", f"http://127.0.0.1:{port}"):
            assert at_run_time(look, list_file=f"{place}/{{snapshot}}.paths") is True
            assert at_run_time(look, list_file=f"{place}/{{date}}.paths") is False
    assert at_run_time(look, list_file=None) is True


def test_an_exit_code_says_how_often_another_try_is_made(at_run_time):
    failures = [("Error code is: 1.", 1), ("Error code is: 3.", 3), ("Error code is: 130.", 1), ("no connection", 1)]
    worthless = [("Error code is: 2.", 2), ("Error code is: 4.", 1)]
    actions = at_run_time(
        f"""[
            made.RetryByExitCode().evaluate(Exception(f"Cannot execute: it. {{message}}"), tried, 3).action.value
            for message, tried in {[*failures, ("Error code is: 2.", 1), *worthless]}
        ]"""
    )
    assert actions == [*["default"] * 5, "fail", "fail"]


def _describe(airflow, folder, news):
    """What Airflow finds in a DAG folder with the project's DAG linked into it and a file of one's own beside it."""
    (folder / "crawl_dedup_dag.py").symlink_to(airflow.dags / "crawl_dedup_dag.py")
    (folder / "news.py").write_text(news)
    return airflow.python(DESCRIBE.format(folder=str(folder)))
