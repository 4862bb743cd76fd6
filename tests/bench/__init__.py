"""Benchmarks: ours and TensorFlow's, measured in alternation in one run; only ratios are meant to be quoted.

make bench                     all cases, in the environment that also holds TensorFlow
python -m tests.bench NAME...  some of them
"""
