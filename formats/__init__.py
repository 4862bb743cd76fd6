"""Files of TensorFlow models, read and written without TensorFlow: bytes <-> neutral values.

Knows no graph semantics: a graph is a protobuf message here, and a variable an `Entry` (name, dtype,
shape, and bytes on request). `registry` finds the formats; each has a module of its own.
"""
