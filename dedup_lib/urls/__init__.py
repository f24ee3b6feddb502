"""URLs: canonical identities under rules that are data, links resolved, canonicals that pages declare.

    rules = load_rules([default_rules_path()])
    identify("HTTP://Example.com/a?utm_source=x", rules).url_key
    identify_column(column, rules)

What this room does to a URL is named by `rules.scheme`, the `url_scheme` of the tables.
"""

from dedup_lib.urls.column import UrlColumns, identify_column
from dedup_lib.urls.identity import REFUSALS, REFUSED_KEY, UrlIdentity, explain, identify, undone_rule
from dedup_lib.urls.links import (
    canonical_from_link_header,
    canonical_links,
    declared_canonical,
    declared_canonicals,
    resolve_link,
)
from dedup_lib.urls.rule_files import default_rules_path, load_rules
from dedup_lib.urls.rules import UrlRules
from dedup_lib.urls.sites import registrable_domain
from dedup_lib.urls.trace import Fired

__all__ = [
    "REFUSALS",
    "REFUSED_KEY",
    "Fired",
    "UrlColumns",
    "UrlIdentity",
    "UrlRules",
    "canonical_from_link_header",
    "canonical_links",
    "declared_canonical",
    "declared_canonicals",
    "default_rules_path",
    "explain",
    "identify",
    "identify_column",
    "load_rules",
    "registrable_domain",
    "resolve_link",
    "undone_rule",
]
