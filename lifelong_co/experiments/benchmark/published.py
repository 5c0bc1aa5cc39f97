"""The paper's benchmark instances and their best known costs.

TSPLIB: optima as published with the library (Reinelt; comopt.ifi.uni-heidelberg.de/software/
TSPLIB95, "Optimal solutions for symmetric TSPs"). CVRPLIB, set X of Uchoa et al. (2017): best
known costs as listed at galgos.inf.puc-rio.br/cvrplib, compared with three later lists of 2023 to
2025. All are in the libraries' rounded distances.
"""

TSPLIB = {
    "kroA100": 21282,
    "kroA150": 26524,
    "kroA200": 29368,
    "kroB200": 29437,
    "ts225": 126643,
    "tsp225": 3916,
    "pr226": 80369,
    "pr264": 49135,
    "a280": 2579,
    "pr299": 48191,
    "lin318": 42029,
    "rd400": 15281,
    "fl417": 11861,
    "pr439": 107217,
    "pcb442": 50778,
    "d493": 35002,
    "u574": 36905,
    "rat575": 6773,
    "p654": 34643,
    "d657": 48912,
    "u724": 41910,
    "rat783": 8806,
    "pr1002": 259045,
}
"""In the order of the paper's table "Test performance on TSPLIB instances"."""

CVRPLIB = {
    "X-n101-k25": 27591,
    "X-n153-k22": 21220,
    "X-n200-k36": 58578,
    "X-n251-k28": 38684,
    "X-n303-k21": 21736,
    "X-n351-k40": 25896,
    "X-n401-k29": 66154,
    "X-n459-k26": 24139,
    "X-n502-k39": 69226,
    "X-n548-k50": 86700,
    "X-n599-k92": 108451,
    "X-n655-k131": 106780,
    "X-n701-k44": 81923,
    "X-n749-k98": 77269,
    "X-n801-k40": 73305,
    "X-n856-k95": 88965,
    "X-n895-k37": 53860,
    "X-n957-k87": 85465,
    "X-n1001-k43": 72355,
}
"""In the order of the paper's table "Test performance on CVRPLIB instances"."""

BEST = {"tsp": TSPLIB, "cvrp": CVRPLIB}
"""By problem, as instances of two problems can have one name: many CVRPTW files are named after the
CVRPLIB instance that they were made from, and their best costs are others."""
LIBRARIES = {"tsplib": ("tsp", ".tsp", tuple(TSPLIB)), "cvrplib": ("cvrp", ".vrp", tuple(CVRPLIB))}
"""Library to problem, suffix of its files, and the paper's instances."""
