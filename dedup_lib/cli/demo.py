"""`crawl-dedup demo`: the sample from nothing to its funnel, quality and outputs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dedup_lib.cli.commands import Options, published, run_stages
from dedup_lib.cli.looks import evaluate, sample_command
from dedup_lib.config import load_settings, locate_conf
from dedup_lib.errors import CheckFailedError
from dedup_lib.evaluation import render_evaluation
from dedup_lib.reports.funnel import render_funnel
from dedup_lib.reports.outputs import render_outputs
from dedup_lib.sample import SNAPSHOTS, SOURCE, TRUTH_FILE
from dedup_lib.tables.schemas import STAGES


def run_demo(directory: Path, tell: Callable[[str], None], show: Callable[[str], None]) -> dict[str, Any]:
    """Writes the sample below `directory` unless it is there, runs both snapshots, and shows what came of them."""
    inputs, root = directory / "input", str(directory / "store")
    truth = inputs / TRUTH_FILE
    if not truth.exists():  # it is written last
        tell(f"sample: writing two snapshots to {inputs}")
        sample_command(inputs)
    profile = locate_conf("conf/sample.yaml")
    summaries = []
    for snapshot in SNAPSHOTS:
        tell(f"snapshot {snapshot}")
        options = Options(root, SOURCE, snapshot, profile, inputs=[str(inputs / snapshot)])
        summaries.append(run_stages("run", STAGES, options, tell))
    for summary in summaries:
        show(render_funnel(summary["snapshot"], summary["counts"], summary["seconds"]))
    evaluation = evaluate(root, truth, load_settings(profile))
    show(render_evaluation(evaluation))
    for snapshot in SNAPSHOTS:
        version = published(root, SOURCE, snapshot)
        if version:
            show(render_outputs(root, version))
    if evaluation.failures:
        raise CheckFailedError(evaluation.failures, "the result does not agree with what was planted")
    return {"command": "demo", "snapshots": summaries, "quality": evaluation.to_json()}
