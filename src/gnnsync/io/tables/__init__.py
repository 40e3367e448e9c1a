"""Measurements as tables: CSV, TSV, Parquet and columns from elsewhere."""
