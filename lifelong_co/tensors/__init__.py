"""Tensors: records of tensors, probabilities, bit packing, precision, and modules."""
