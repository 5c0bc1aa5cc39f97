"""The official codebases as solvers; their code lies in git submodules and is not changed."""
