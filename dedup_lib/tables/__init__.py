"""Schemas of every table, where they live, publish and read."""
