"""The paper's tables and figures of finished runs.

Read: `collect` finds runs and benchmarks, `studies` sorts the runs, `naming` names them. Computed:
`buffer` and `drift`, from checkpoints. Shown: `metric_tables`, `cost_tables`, `benchmark_tables`,
`curve_pictures`, `buffer_section`, `drift_section`. `assemble` makes a report of these, `write`
writes it.
"""
