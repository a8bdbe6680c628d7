"""Measuring trained models: the paper's protocol, judge, retrieval, comparison, ablation, tables and figures."""
