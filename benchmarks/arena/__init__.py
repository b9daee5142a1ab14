"""The arena: learned context against what else one could pick for many related tasks.

    python -m benchmarks.arena run        fill the cells that are missing (resumable)
    python -m benchmarks.arena summary    write results/benchmarks/arena.json, print the tables

`datasets` says what is predicted from what, `tracks` which rows are training and test rows,
`contestants` and `ours` how each method is called, `cells` what one run leaves behind, `running`
how the cells are filled, `summary` what follows from them. What the JSON looks like is in
`pipeline.reporting.arena_layout`.
"""
