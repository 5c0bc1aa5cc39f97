"""An invented table with everything that a form has to show."""

from lifelong_co.experiments.sheet import Cell, Sheet, words

SHEET = Sheet(
    key="metrics",
    title="Metrics, α = 10 & 5 % of |B|",
    header=("method", "AP", "AF", "AP"),
    spans=(("", 1), ("CVRP", 2), ("TSP", 1)),
    blocks=(
        (
            (
                Cell("li_inter|x"),
                Cell("4.2 (1.0)", {"1e-3": "4.21", "std_1e-3": "1.04"}, 4.2),
                Cell("0.1", {"": "0.1"}, 0.1),
                Cell("-", {"1e-3": ""}),
            ),
            (
                Cell("llr-bc"),
                Cell("4.2", {"1e-3": "4.2"}, 4.2),
                Cell("0.7", {"": "0.7"}, 0.7),
                Cell("3.4", {"1e-3": "3.4"}, 3.4),
            ),
        ),
        ((*words("ewc"), Cell("-"), Cell("0.2", rank=0.2), Cell("-")),),
    ),
    note="In 10⁻³.",
)
