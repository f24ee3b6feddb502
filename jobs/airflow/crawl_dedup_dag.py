"""An Airflow DAG that deduplicates the snapshot of a logical date: one `spark-submit` for each stage.

It runs in Airflow's own environment, 3.3 or newer with the Spark provider. Neither Spark nor dedup_lib is imported, as
the provider's pyspark-client and pyspark overwrite each other: what a stage made is read from the store's JSON.
This file makes the DAG `crawl_dedup`; a DAG for each crawl is a file of one call of `crawl_dedup_dag`.
"""

# mypy: disable-error-code="import-not-found, misc"
# Airflow is in no environment that mypy looks at.

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.providers.standard.operators.python import PythonOperator, ShortCircuitOperator
from airflow.sdk import DAG, Asset, BaseSensorOperator, ObjectStoragePath, Param, RetryDecision, RetryPolicy, chain
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

Context = Mapping[str, Any]

STAGES = ("extract", "resolve", "sign", "cluster")
JOBS = Path(__file__).resolve().parents[1]
POOL = "crawl_dedup"  # its slots: stages of all snapshots that run at once
GLOBAL_POOL = "crawl_dedup_global"  # one slot: two runs on the global version of a store would refuse each other
FORMAT = 1  # of what is published
LISTING_SECONDS = 30  # for a server to say whether a list is there

# Retries that an exit code is worth, where it is worth fewer than others. Checks that failed fail again. Wrong usage
# does too, but 2 is also said of a snapshot that a lost run still holds.
RETRIES_BY_EXIT_CODE = {2: 1, 4: 0}
EXIT_CODE = re.compile(r"\bError code is: (\d+)\.")  # as SparkSubmitHook words it

TEXT, OPTIONAL = {"type": "string", "minLength": 1}, {"type": ["null", "string"]}
TEXTS = {"type": "array", "items": TEXT}
PARAMS: dict[str, tuple[Any, str, Mapping[str, Any]]] = {
    "source": ("crawl", "name of the crawl", TEXT),
    "snapshot": ("snapshot-%Y-%m-%d", "name of the snapshot: a strftime pattern for the logical date", TEXT),
    "list_file": (None, "what to wait for: a file that is there when the snapshot is complete", OPTIONAL),
    "inputs": (["/data/crawl/{snapshot}"], "files, globs, folders, @lists; {snapshot} and {date} are filled in", TEXTS),
    "crawl_date": (None, "day of the crawl, for tables of text without; {date} is the logical date", OPTIONAL),
    "root": ("/data/store", "ROOT of the store", TEXT),
    "config": (None, "profile (YAML); none: the defaults", OPTIONAL),
    "overrides": ([], "settings as section.key=value", TEXTS),
    "replace": (False, "remake what is there with other inputs or settings", {"type": "boolean"}),
    "properties_file": (None, "Spark properties; none: those of the Spark that is called", OPTIONAL),
    "add_to_global": (False, "add the snapshot to the global version of the store", {"type": "boolean"}),
}


class RetryByExitCode(RetryPolicy):
    """Ends the retries of a stage early when its exit code says that they are of no use."""

    def evaluate(
        self, exception: BaseException, try_number: int, max_tries: int, context: Context | None = None
    ) -> RetryDecision:
        """FAIL for an exit code that is not worth another try, and Airflow's default for all else."""
        found = EXIT_CODE.search(str(exception))
        code = int(found[1]) if found else None
        if code in RETRIES_BY_EXIT_CODE and try_number > RETRIES_BY_EXIT_CODE[code]:
            return RetryDecision.fail(f"exit code {code}: another try would end the same way")
        return RetryDecision.default()


class ListSensor(BaseSensorOperator):
    """Waits for the file that tells of a complete snapshot, on disk, in object storage or on the web."""

    def poke(self, context: Context) -> bool:
        """Whether it is there, or none is waited for."""
        named = context["params"]["list_file"]
        return not named or is_there(fill(named, context))


def crawl_dedup_dag(
    dag_id: str = "crawl_dedup",
    *,
    schedule: Any = None,  # noqa: ANN401 (whatever Airflow takes)
    start_date: datetime | None = None,
    catchup: bool = False,
    parallel: int = 4,
    jobs: str | Path = JOBS,
    conn_id: str = "spark_default",
    spark: Mapping[str, Any] | None = None,
    retries: int = 3,
    retry_delay: timedelta = timedelta(minutes=5),
    stage_timeout: timedelta = timedelta(hours=24),
    list_timeout: timedelta = timedelta(days=7),
    list_interval: timedelta = timedelta(minutes=10),
    **defaults: Any,  # noqa: ANN401 (checked by the schema of each parameter)
) -> DAG:
    """A DAG for one crawl, found by Airflow under the name it is given in its file.

    `defaults` are those of its parameters (`PARAMS`), which a run may override.

    Up to `parallel` logical dates are at work at once, those of a back-fill too; only the global step is taken one by
    one, in the order of the dates. `jobs` is the folder of the entry points as the driver sees it, `conn_id` the Spark
    connection (master, deploy mode), `spark` further arguments of SparkSubmitOperator, such as executor_memory or
    archives. TypeError for a default that is no parameter.
    """
    if unknown := sorted(set(defaults) - set(PARAMS)):
        raise TypeError(f"{unknown[0]} is no parameter of {dag_id}: there are {', '.join(PARAMS)}")
    asset = Asset(f"{dag_id}_representatives")
    with DAG(
        dag_id,
        schedule=schedule,
        start_date=start_date,
        catchup=catchup,
        max_active_runs=parallel,
        params={
            name: Param(defaults.get(name, default), description=description, **schema)
            for name, (default, description, schema) in PARAMS.items()
        },
        default_args={
            "retries": retries,
            "retry_delay": retry_delay,
            "retry_exponential_backoff": 2.0,
            "max_retry_delay": timedelta(hours=1),
        },
        description="Deduplicates the snapshot of a logical date.",
        doc_md=__doc__,
        tags=["crawl-dedup"],
        auto_register=False,  # else the DAG of this file would also be one of every file that imports it
    ) as dag:

        def submit(stage: str, arguments: Callable[..., list[str]], **more: Any) -> SparkSubmitOperator:  # noqa: ANN401
            return SparkSubmitOperator(
                task_id=stage,
                application=f"{jobs}/{stage}.py",
                application_args=arguments,
                name=f"{dag_id} {stage}",
                conn_id=conn_id,
                properties_file="{{ params.properties_file or '' }}",
                execution_timeout=stage_timeout,
                retry_policy=RetryByExitCode(),
                **{"pool": POOL, **more, **(spark or {})},
            )

        wait = ListSensor(
            task_id="wait_for_list",
            mode="reschedule",
            poke_interval=list_interval.total_seconds(),
            timeout=list_timeout.total_seconds(),
        )
        stages = [submit(stage, _stage_arguments(stage)) for stage in STAGES]
        counts = PythonOperator(task_id="counts", python_callable=published_counts)
        announce = PythonOperator(
            task_id="announce",
            python_callable=announce_representatives,
            op_args=[asset],
            inlets=[asset],
            outlets=[asset],
        )
        wanted = ShortCircuitOperator(task_id="global_wanted", python_callable=lambda params: params["add_to_global"])
        across = submit("global", global_arguments, pool=GLOBAL_POOL, depends_on_past=True)
        chain(wait, *stages, counts, [announce, wanted])
        chain(wanted, across)
    return dag


def snapshot_of(context: Context) -> str:
    """The name of a run's snapshot. AirflowFailException for a run without a logical date whose pattern needs one."""
    pattern, day = context["params"]["snapshot"], context.get("logical_date")
    if day is None and "%" in pattern:
        raise AirflowFailException(
            f"this run has no logical date to name a snapshot by ({pattern}): trigger it with one, "
            "or name the snapshot by the parameter `snapshot`"
        )
    return str(day.strftime(pattern)) if day else str(pattern)


def fill(text: str, context: Context) -> str:
    """A parameter with {snapshot} and {date} in place of what they stand for, and all else untouched."""
    filled = text.replace("{snapshot}", snapshot_of(context))
    if "{date}" in filled:
        if context.get("logical_date") is None:
            raise AirflowFailException(f"this run has no logical date for the {{date}} in {text}: trigger it with one")
        filled = filled.replace("{date}", context["logical_date"].strftime("%Y-%m-%d"))
    return filled


def is_there(path: str) -> bool:
    """Whether a file is there; s3://CONNECTION@bucket/key needs Amazon's provider, other storage that of its kind."""
    if not path.startswith(("http://", "https://")):
        return bool(ObjectStoragePath(path).exists())
    try:
        with urlopen(Request(path, method="HEAD"), timeout=LISTING_SECONDS):
            return True
    except HTTPError as error:
        if error.code in (403, 404):  # S3 says 403 of what is not there where listing is forbidden
            return False
        raise


def _stage_arguments(stage: str) -> Callable[..., list[str]]:
    """The arguments of a stage's job, made when the task runs: lists of any length cannot come from templates."""

    def arguments(context: Context, **_: Any) -> list[str]:  # noqa: ANN401
        params = context["params"]
        own = ["--source", params["source"], "--snapshot", snapshot_of(context)]
        if stage == "extract":
            own += _each("--input", [fill(name, context) for name in params["inputs"]])
            own += ["--crawl-date", fill(params["crawl_date"], context)] if params["crawl_date"] else []
        own += ["--replace"] if params["replace"] else []
        return own + _common(params)

    return arguments


def global_arguments(context: Context, **_: Any) -> list[str]:  # noqa: ANN401
    """The arguments of the global job: the snapshot of this run, beside those that the global version has already.

    Later snapshots that a back-fill has clustered in the meantime stay out until it is their turn, so that an earlier
    document is always the one that is kept.
    """
    params = context["params"]
    known = read_published(params["root"], "global")
    before = [name for name in known["stages"]["global"]["made_from"] if "/" in name] if known else []
    there = [name for name in before if read_published(params["root"], _place(*name.split("/")))]
    this = f"{params['source']}/{snapshot_of(context)}"
    return _each("--against", dict.fromkeys([*there, this])) + _common(params)


def _common(params: Mapping[str, Any]) -> list[str]:
    profile = ["--config", params["config"]] if params["config"] else []
    return ["--output", params["root"], *profile, *_each("--set", params["overrides"])]


def _each(option: str, values: Sequence[str] | Mapping[str, None]) -> list[str]:
    return [word for value in values for word in (option, value)]


def published_counts(**context: Any) -> dict[str, Any]:  # noqa: ANN401
    """What is published of the run's snapshot: source, snapshot, root, the run and the counts of each stage.

    Also the check that the stages did what they were submitted for, where Spark hides their exit codes (cluster mode).
    """
    params = context["params"]
    source, snapshot, root = params["source"], snapshot_of(context), params["root"]
    version = read_published(root, _place(source, snapshot))
    stages: dict[str, Any] = version["stages"] if version else {}
    runs = {stage: entry["run"] for stage, entry in stages.items()}
    for stage in STAGES:
        made_from = stages[stage]["made_from"] if stage in stages else None
        if made_from is None or any(runs.get(earlier) != run for earlier, run in made_from.items()):
            raise AirflowFailException(
                f"{stage} of {source}/{snapshot} is {'not published' if made_from is None else 'stale'} under {root}: "
                f"see the outcome and the error of the newest file in {root}/_runs"
            )
    counts = {stage: stages[stage]["counts"] for stage in STAGES}
    return {"source": source, "snapshot": snapshot, "root": root, "runs": runs, "counts": counts}


def announce_representatives(asset: Asset, **context: Any) -> None:  # noqa: ANN401
    """Updates the asset, with what `counts` found, unless it was told of these representatives before."""
    found = context["ti"].xcom_pull(task_ids="counts")
    told = [event.extra.get("runs", {}).get("cluster") for event in context["inlet_events"][asset]]
    if found["runs"]["cluster"] in told:
        raise AirflowSkipException(f"{found['snapshot']} is as it was")
    context["outlet_events"][asset].extra = found


def read_published(root: str, place: str) -> dict[str, Any] | None:
    """What is published at a place of a store, or None. AirflowFailException when its format is not known here."""
    path = ObjectStoragePath(root) / "_published" / f"{place}.json"
    if not path.exists():
        return None
    version: dict[str, Any] = json.loads(path.read_text())
    if version["format"] != FORMAT:
        raise AirflowFailException(
            f"{path} has format {version['format']}: take the DAG of the crawl-dedup that wrote it"
        )
    return version if version["stages"] else None


def _place(source: str, snapshot: str) -> str:
    return f"source={source}/snapshot={snapshot}"


crawl_dedup = crawl_dedup_dag()
