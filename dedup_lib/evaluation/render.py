"""An evaluation as text to read in a terminal."""

from collections.abc import Iterator, Sequence

from dedup_lib.evaluation.agreement import Agreement
from dedup_lib.evaluation.cases import Cases
from dedup_lib.evaluation.levels import Level
from dedup_lib.evaluation.pairs import PairScores
from dedup_lib.evaluation.s_curve import Curve, steepest
from dedup_lib.evaluation.sample import SampleScores
from dedup_lib.evaluation.text_table import text_table
from dedup_lib.evaluation.truth import Evaluation


def render_evaluation(evaluation: Evaluation) -> str:
    """The evaluation as text: what was planted and found by snapshot, recall beside the S-curve, and the verdict.

    Examples are shown where something is wrong. Ends in a newline.
    """
    curve = evaluation.curve
    verified = f"verified at {curve.threshold:g}" if curve.verified else f"not verified, threshold {curve.threshold:g}"
    lines = [
        f"Evaluation against {evaluation.truth}",
        f"{curve.bands} bands of {curve.rows} rows (steepest at {steepest(curve.bands, curve.rows):.2f}), {verified}",
        *(f"Not in the store: {name}" for name in evaluation.absent),
    ]
    scores = [*evaluation.scores, *([evaluation.overall] if evaluation.overall else [])]
    for score in scores:
        lines += ["", *(_sample(score, curve) if isinstance(score, SampleScores) else _pairs(score, curve))]
    failures = evaluation.failures
    verdict = (
        "Everything is as planted."
        if isinstance(evaluation.scores[0], SampleScores)
        else "Labelled pairs are shown, not judged."
    )
    lines += ["", verdict] if not failures else ["", f"{len(failures)} failed:", *(f"  {text}" for text in failures)]
    return "\n".join(lines) + "\n"


def _sample(score: SampleScores, curve: Curve) -> Iterator[str]:
    documents, removed = score.documents, score.removed
    yield score.name
    yield text_table(
        [],
        [
            ["documents in the truth", f"{documents.planted:,}"],
            ["  of them missing", f"{documents.missed:,}"],
            ["  others that were clustered", f"{score.no_documents.count + score.unknown.count:,}"],
            ["planted non-duplicates merged", f"{score.merged.count:,}"],
            *([f"  {kind}", f"{count:,}"] for kind, count in score.merged_by_kind.items()),
            ["truncated with a complete one kept", f"{score.truncated.found:,} of {score.truncated.planted:,}"],
            ["removed", f"{removed.planted:,}"],
            ["  wrongly", f"{removed.missed:,}"],
        ],
    )
    for cases in (score.missing, score.no_documents, score.unknown, score.merged, score.truncated_kept):
        yield from _examples(cases)
    tallies = [*score.relations.items(), *((f"  rule {name}", tally) for name, tally in score.rules.items())]
    if tallies:
        rows = [[name, f"{tally.planted:,}", f"{tally.found:,}"] for name, tally in tallies]
        yield text_table(["planted duplicates", "planted", "found"], rows)
    yield from _examples(score.not_found)
    yield from _levels(score.levels, curve)
    yield _agreement(score.agreement)


def _pairs(score: PairScores, curve: Curve) -> Iterator[str]:
    yield score.name
    yield text_table(
        [],
        [
            ["labelled pairs", f"{score.pairs:,}"],
            ["  with both documents here", f"{score.judged:,}"],
            ["  duplicates", f"{score.duplicates:,}"],
            ["  in one cluster", f"{score.merged:,}"],
            ["precision", f"{score.precision:.4f}"],
            ["recall", f"{score.recall:.4f}"],
            ["F1", f"{score.f1:.4f}"],
        ],
    )
    if score.kinds:
        rows = [[kind, f"{tally.planted:,}", f"{tally.found:,}"] for kind, tally in score.kinds.items()]
        yield text_table(["kind", "pairs", "in one cluster"], rows)
    for title, cases in (("wrongly merged", score.wrongly_merged), ("missed", score.missed)):
        if cases.count:
            yield f"  {title}: {cases.count:,}"
            yield from _examples(cases)
    yield from _levels(score.levels, curve)


def _levels(levels: Sequence[Level], curve: Curve) -> Iterator[str]:
    if not levels:
        return
    rows = [
        [
            level.name + (" borderline" if level.borderline else ""),
            f"{level.pairs:,}",
            f"{level.found:,}",
            f"{level.recall:.3f}",
            f"{level.theory:.3f}",
            f"{level.error:.3f}",
            "-" if level.z is None else f"{level.z:+.1f}",
        ]
        for level in levels
    ]
    yield text_table(["near duplicates", "pairs", "found", "recall", "theory", "std.err", "z"], rows)
    if any(level.borderline for level in levels):
        yield f"  borderline: within {curve.borderline:g} of the threshold, shown and not judged"


def _agreement(found: Agreement) -> str:
    rows = [
        ["pairs", *(f"{value:.4f}" for value in (found.pair_precision, found.pair_recall, found.pair_f1))],
        ["B-cubed", *(f"{value:.4f}" for value in (found.b_cubed_precision, found.b_cubed_recall, found.b_cubed_f1))],
        ["adjusted Rand index", "", "", f"{found.adjusted_rand:.4f}"],
    ]
    return text_table(["clusters", "precision", "recall", "F1"], rows)


def _examples(cases: Cases) -> Iterator[str]:
    yield from (f"    {example}" for example in cases.examples)
