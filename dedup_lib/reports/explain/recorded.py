"""By what a snapshot was made: settings, URL rules and scheme, as its run files and its published version have them."""

import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from dedup_lib.config import Settings, locate_conf
from dedup_lib.errors import UsageError
from dedup_lib.signatures import Normalisation, Scheme
from dedup_lib.tables.published import Version
from dedup_lib.tables.runs import read_run
from dedup_lib.urls import UrlRules, load_rules


@dataclass(frozen=True)
class Recorded:
    """What shaped a snapshot; `notes` say what could not be told, and what stands in for it.

    `rules` is None where the rule files that the run names are not there, or are no longer those it used.
    """

    settings: Settings
    scheme: Scheme
    rules: UrlRules | None
    notes: tuple[str, ...]


def recorded(root: str | Path, version: Version) -> Recorded:
    """By what a published snapshot was made. Where a run file is gone, the defaults stand in and a note says so."""
    last = max(version.stages, key=lambda stage: version.stages[stage].run, default="extract")
    stage = "cluster" if "cluster" in version.stages else last
    settings = _settings(root, version, stage)
    notes = [] if settings else [f"{version.key}: the run file of {stage} is not there, settings are the defaults"]
    settings = settings or Settings()
    sign = version.stages.get("sign")
    own = settings.sign
    scheme = (
        Scheme.parse(sign.scheme)
        if sign is not None and sign.scheme
        else Scheme(
            own.shingle_words,
            own.bands,
            own.rows,
            own.seed,
            own.minhash_bits,
            Normalisation(own.unicode_form, own.digits),
        )
    )
    extract = version.stages.get("extract")
    rules = _rules(root, version) if extract else None
    if extract and rules is None:
        notes.append(
            f"{version.key}: the URL rules it was named by are not there any more, so that a URL is found only as it "
            "was captured or canonical"
        )
    notes += [
        f"{version.key}: {one} is stale, since {cause} was replaced after it was made: run {one} again"
        for one in version.stages
        if (cause := version.stale_because(one))
    ]
    return Recorded(settings, scheme, rules, tuple(notes))


def _settings(root: str | Path, version: Version, stage: str) -> Settings | None:
    entry = version.stages.get(stage)
    record = read_run(root, entry.run) if entry else None
    if record is None:
        return None
    try:
        return Settings.model_validate_json(json.dumps(record["configuration"]))
    except (KeyError, ValidationError):  # of another release
        return None


def _rules(root: str | Path, version: Version) -> UrlRules | None:
    settings = _settings(root, version, "extract") or Settings()
    try:
        rules = load_rules([locate_conf(name) for name in settings.urls.rules])
    except UsageError:
        return None
    return rules if rules.scheme == version.stages["extract"].url_scheme else None
