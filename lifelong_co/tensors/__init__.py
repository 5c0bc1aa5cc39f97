"""Tensors: records of them, probabilities, packing, precision, and modules."""
