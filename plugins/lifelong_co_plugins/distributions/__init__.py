"""The paper's six instance distributions, U GM E C G R, for the TSP and the CVRP.

================  ===============================================================
`nodes`           where the nodes go, given random numbers; batched maps
`demand`          what the nodes demand, given random numbers; the capacity rule
`noise`           the random numbers, drawn for a whole batch at once
`samplers`        the fast samplers: noise, then the maps
`official`        the same maps, fed in the order in which the official code draws
`distribution`    the object users get; paper against official code, in one table
`plugin`          registers the six names
================  ===============================================================
"""
