"""The official codebases as solvers; their code is in git submodules and is not changed."""
