"""The command that proposes bands and rows for a threshold; it needs no Spark."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from dedup_lib.clustering.verify import standard_error
from dedup_lib.config import SignSettings
from dedup_lib.config.banding import steepest
from dedup_lib.evaluation.text_table import text_table
from dedup_lib.evaluation.tuning import PERMUTATIONS, Banding, list_bandings, propose
from dedup_lib.evaluation.tuning_sample import Load, Measured, measure
from dedup_lib.signatures import Scheme

SIMILARITIES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
RARE = 3.0  # of an event that was not seen, at most three were to be expected, with 95 % confidence


@dataclass(frozen=True)
class Tuning:
    """What was asked, the bandings that answer it, the one proposed, and what a sample says of that."""

    threshold: float
    recall: float
    most: int
    minhash_bits: int
    bandings: tuple[Banding, ...]
    proposed: Banding
    measured: Measured | None

    @property
    def estimate_error(self) -> float:
        """The standard error of an estimated similarity at the threshold."""
        return standard_error(self.threshold, self.proposed.permutations)

    def to_json(self) -> dict[str, Any]:
        """As a mapping that JSON can hold."""
        proposed = self.proposed
        return {
            "command": "tune",
            "threshold": self.threshold,
            "recall": self.recall,
            "permutations": self.most,
            "minhash_bits": self.minhash_bits,
            "proposed": proposed.to_json(self.threshold, self.minhash_bits),
            "estimate_error": self.estimate_error,
            "bandings": [one.to_json(self.threshold, self.minhash_bits) for one in self.bandings],
            "s_curve": [{"similarity": one, "recall": proposed.recall(one)} for one in self._similarities()],
            "measured": self.measured.to_json() if self.measured else None,
        }

    def _similarities(self) -> list[float]:
        return sorted({*SIMILARITIES, self.threshold})

    def render(self) -> str:
        """As text to read in a terminal, without a final newline."""
        proposed, threshold = self.proposed, self.threshold
        cells = [[f"{one:g}", f"{100 * proposed.recall(one):.4g} %"] for one in self._similarities()]
        lines = [
            f"{proposed.bands} bands of {proposed.rows} rows: --set sign.bands={proposed.bands} "
            f"--set sign.rows={proposed.rows} --set cluster.threshold={threshold:g}",
            f"{proposed.permutations} permutations; standard error of an estimate at {threshold:g}: "
            f"{self.estimate_error:.3f}",
            "",
            f"The fewest bands for each number of rows that find {100 * self.recall:g} % at {threshold:g}, "
            f"up to {self.most} permutations;",
            "proposed (*) are those with the fewest candidates below the threshold",
            text_table(
                ["rows", "bands", "permutations", f"at {threshold:g}", "steepest", "of all below", "bytes"],
                [self._row(one) for one in self.bandings],
            ),
            "  of all below: the share that become candidates, were similarities spread evenly below the threshold",
            f"  bytes: of a signature in the store before compression, {self.minhash_bits} bits of a minimum kept",
            "",
            text_table(["similarity", "found, by theory"], cells),
        ]
        if self.measured:
            lines += ["", *_measured(self.measured, proposed, threshold)]
        return "\n".join(lines)

    def _row(self, one: Banding) -> list[str]:
        return [
            f"{one.rows}" + (" *" if one == self.proposed else ""),
            f"{one.bands}",
            f"{one.permutations}",
            f"{100 * one.recall(self.threshold):.2f} %",
            f"{steepest(one.bands, one.rows):.2f}",
            f"{100 * one.share_below(self.threshold):.1f} %",
            f"{one.bytes_per_document(self.minhash_bits):,}",
        ]


def tune(threshold: float, recall: float, most: int, sample: str | None) -> Tuning:
    """Proposes bands and rows, and measures them on the published signatures of a store if one is named."""
    bandings = list_bandings(threshold, recall, most)
    proposed = propose(bandings, threshold)
    measured = measure(sample, proposed, threshold) if sample is not None else None
    bits = Scheme.parse(measured.scheme).minhash_bits if measured else SignSettings().minhash_bits
    return Tuning(threshold, recall, most, bits, tuple(bandings), proposed, measured)


def tune_command(
    threshold: Annotated[float, typer.Option("--threshold", help="Least Jaccard of a near duplicate, such as 0.8.")],
    recall: Annotated[float, typer.Option("--recall", help="Share of the pairs at the threshold to be found.")] = 0.95,
    most: Annotated[int, typer.Option("--permutations", help="Most permutations to spend.")] = PERMUTATIONS,
    sample: Annotated[str | None, typer.Option("--sample", help="ROOT of a store to measure on.")] = None,
    json_only: Annotated[bool, typer.Option("--json", help="One line of JSON, and no tables.")] = False,
) -> None:
    """Bands and rows for a threshold: recall, bytes, and candidates to expect."""
    found = tune(threshold, recall, most, sample)
    typer.echo(json.dumps(found.to_json()) if json_only else found.render())


def _measured(measured: Measured, proposed: Banding, threshold: float) -> Iterator[str]:
    all_texts = f"all {measured.texts:,}" if measured.rate == 1 else f"{measured.texts:,} of {measured.all_texts:,.0f}"
    snapshots = "1 snapshot" if measured.snapshots == 1 else f"{measured.snapshots} snapshots"
    yield (
        f"Measured on {all_texts} different texts of {snapshots}, signed by\n"
        f"{measured.scheme}, {measured.stored_bytes:,.0f} bytes stored per signature with ids and URLs"
    )
    rows = [
        [
            f"{level.low:.2f} to {level.high:.2f}",
            f"{level.pairs:,}",
            "-" if level.met is None else f"{level.met:,}",
            "-" if level.recall is None else f"{level.recall:.4g}",
            f"{level.theory:.4g}",
            f"{level.error:.2g}",
        ]
        for level in measured.levels
    ]
    yield text_table(["estimated", "pairs", "found", "recall", "theory", "std.err"], rows)
    scheme = Scheme.parse(measured.scheme)
    error = standard_error(threshold, scheme.permutations)
    yield f"  estimated: by {scheme.permutations} permutations, standard error {error:.3f} at {threshold:g}"
    yield "  std.err: of independent pairs; pairs that share a text, as pages of one template do, scatter more"
    if measured.simulated:
        yield (
            f"  found: by bands over the {scheme.minhash_bits} bits that are stored of a minimum; "
            f"unlike ones pass for equal in 1 of {2**scheme.minhash_bits:,}"
        )
    else:
        yield (
            f"  found: not to be told, since the store has fewer than {proposed.permutations} permutations; "
            "candidates are those that theory expects"
        )
    yield f"  candidate pairs in the whole store: {_load(measured.load, measured)}"
    yield f"  of them below the threshold: {_load(measured.load_below, measured)}"
    yield "  clustering pairs texts with the first ones of their band only, and so compares at most as many"


def _load(load: Load, measured: Measured) -> str:
    if measured.simulated and load.pairs == 0 and measured.rate < 1:
        return f"none in the sample, so likely fewer than {RARE / measured.rate**2:,.0f}"
    error = f" (standard error {load.error:,.0f})" if measured.rate < 1 and not math.isnan(load.error) else ""
    return f"{load.pairs:,.0f}{error}, {load.pairs / measured.all_texts:.3g} per text"
