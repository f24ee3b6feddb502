"""Checks of a table against its schema, before it is published."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from dedup_lib.tables.columns import Table


def check_table(frame: DataFrame, table: Table) -> list[str]:
    """What is wrong with a table, in words; empty when required columns hold no null and keys are unique.

    One aggregate over the frame; a shuffle by the key where the table has one.
    """
    totals = [sf.count(sf.lit(1)).alias("rows")]
    totals += [sf.count_if(sf.col(name).isNull()).alias(f"nulls_{name}") for name in table.required]
    if table.key:
        totals.append(sf.count_distinct(*(sf.col(name) for name in table.key)).alias("keys"))
        totals.append(sf.count_if(_all_set(table)).alias("keyed_rows"))
    found = frame.agg(*totals).collect()[0].asDict()
    faults = [
        f"{table.name}: {name} is null in {count} of {found['rows']} rows"
        for name in table.required
        if (count := found[f"nulls_{name}"])
    ]
    if table.key and (repeated := found["keyed_rows"] - found["keys"]):
        faults.append(f"{table.name}: {', '.join(table.key)} must be unique, but {repeated} rows repeat one")
    return faults


def _all_set(table: Table) -> Column:
    """True where no key column is null: count_distinct leaves the others out."""
    condition = sf.lit(True)
    for name in table.key:
        condition = condition & sf.col(name).isNotNull()
    return condition
