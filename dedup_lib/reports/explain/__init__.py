"""Why a document was kept or removed, and why two documents were not merged: read from published files, no Spark."""
