"""Benchmarks: ratios to a memory copy and to peers measured in the same run."""
