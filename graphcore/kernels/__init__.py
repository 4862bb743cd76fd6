"""Numerics longer than a screen: plain NumPy functions that know neither ops nor graphs.

Every function takes arrays and plain Python values in TensorFlow's attribute conventions (strides as
a list of four ints, padding as "SAME", "VALID" or "EXPLICIT", data_format as "NHWC" or "NCHW"). None
changes its arguments; a result may be an argument where nothing was to be done. Overflow and NaN are
results, as in TensorFlow: whoever runs kernels does so under `np.errstate(all="ignore")`, once.
"""
