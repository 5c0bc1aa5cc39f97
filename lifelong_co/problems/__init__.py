"""The only place where TSP and CVRP differ."""
