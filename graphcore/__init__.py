"""temporary"""
from .ops import math_unary, math_binary, reduction, linalg, array_create, array_shape, array_join, state
from .convert import constant, convert_to_tensor
from .default import *
from .dtypes import *
from .graph import Graph
from .session import Session
from .op import raw_ops
