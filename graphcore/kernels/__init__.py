"""Numerics longer than a screen: plain NumPy functions that know neither ops nor graphs.

Every function takes arrays and plain Python values in TensorFlow's attribute conventions (strides as
a list of four ints, padding as "SAME", "VALID" or "EXPLICIT", data_format as "NHWC" or "NCHW").
"""
