"""The paper's six instance distributions, U GM E C G R, for the TSP and the CVRP.

================  ===============================================================
`nodes`           maps from random numbers to coordinates, for a whole batch
`demand`          maps from random numbers to demands, for a whole batch; the capacity rule
`noise`           the random numbers, drawn for a whole batch at once
`samplers`        the fast samplers: noise, then the maps
`official`        the same maps, with random numbers drawn in the order of the official code
`distribution`    the object for users; a table of differences between paper and official code
`plugin`          registers the six names
================  ===============================================================
"""
