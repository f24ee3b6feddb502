"""What shapes a result: settings, the profiles they come from, and how they are written down again."""

from dedup_lib.config.load import load_settings
from dedup_lib.config.places import locate_conf
from dedup_lib.config.record import fingerprint, settings_record, settings_reference
from dedup_lib.config.settings import (
    ClusterSettings,
    ExtractSettings,
    GlobalSettings,
    ResolveSettings,
    RunSettings,
    Settings,
    SignSettings,
    SparkSettings,
    StoreSettings,
    UrlSettings,
)

__all__ = [
    "ClusterSettings",
    "ExtractSettings",
    "GlobalSettings",
    "ResolveSettings",
    "RunSettings",
    "Settings",
    "SignSettings",
    "SparkSettings",
    "StoreSettings",
    "UrlSettings",
    "fingerprint",
    "load_settings",
    "locate_conf",
    "settings_record",
    "settings_reference",
]
