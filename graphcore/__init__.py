"""TensorFlow 1's API for static graphs, on NumPy: `from sgtool import graphcore as tf`.

This file and its neighbours named like TensorFlow's modules (`nn`, `train`, `math`, ...) only name the
public surface; what stands behind each name is in the module that it is imported from.
"""

from __future__ import annotations

# The op families first: they install the operators of tensors.
from . import ops as ops  # isort: skip
from . import (
    compat as compat,
    errors as errors,
    graph_util as graph_util,
    initializers as initializers,
    layers as layers,
    losses as losses,
    math as math,
    nn as nn,
    random as random,
    summary as summary,
    train as train,
)
from .conditional import cond as cond
from .convert import (
    constant as constant,
    convert_to_tensor as convert_to_tensor,
    register_tensor_conversion_function as register_tensor_conversion_function,
)
from .default import (
    GraphKeys as GraphKeys,
    add_to_collection as add_to_collection,
    add_to_collections as add_to_collections,
    colocate_with as colocate_with,
    container as container,
    control_dependencies as control_dependencies,
    device as device,
    get_collection as get_collection,
    get_collection_ref as get_collection_ref,
    get_default_graph as get_default_graph,
    get_default_session as get_default_session,
    name_scope as name_scope,
    reset_default_graph as reset_default_graph,
)
from .dtypes import (
    DType as DType,
    as_dtype as as_dtype,
    bfloat16 as bfloat16,
    bool_ as bool,
    complex64 as complex64,
    complex128 as complex128,
    double as double,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    half as half,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    qint8 as qint8,
    qint16 as qint16,
    qint32 as qint32,
    quint8 as quint8,
    quint16 as quint16,
    resource as resource,
    string as string,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    variant as variant,
)
from .errors import OpError as OpError
from .fetches import register_session_run_conversion_functions as register_session_run_conversion_functions
from .gradients import (
    AggregationMethod as AggregationMethod,
    RegisterGradient as RegisterGradient,
    UnconnectedGradients as UnconnectedGradients,
    gradients as gradients,
    hessians as hessians,
    not_differentiable as NoGradient,
    not_differentiable as NotDifferentiable,
    not_differentiable as no_gradient,
)
from .graph import Graph as Graph
from .importer import import_graph_def as import_graph_def
from .indexed_slices import IndexedSlices as IndexedSlices, IndexedSlicesValue as IndexedSlicesValue
from .initializers import (
    constant_initializer as constant_initializer,
    glorot_normal_initializer as glorot_normal_initializer,
    glorot_uniform_initializer as glorot_uniform_initializer,
    ones_initializer as ones_initializer,
    random_normal_initializer as random_normal_initializer,
    random_uniform_initializer as random_uniform_initializer,
    truncated_normal_initializer as truncated_normal_initializer,
    uniform_unit_scaling_initializer as uniform_unit_scaling_initializer,
    variance_scaling_initializer as variance_scaling_initializer,
    zeros_initializer as zeros_initializer,
)
from .op import group as group, no_op as no_op, raw_ops as raw_ops
from .operation import Operation as Operation, Tensor as Tensor
from .ops.array_create import (
    constant_value as get_static_value,
    ensure_shape as ensure_shape,
    eye as eye,
    linspace as lin_space,
    linspace as linspace,
    ones as ones,
    ones_like as ones_like,
    placeholder as placeholder,
    placeholder_with_default as placeholder_with_default,
    tf_fill as fill,
    tf_range as range,
    zeros as zeros,
    zeros_like as zeros_like,
)
from .ops.array_join import (
    concat as concat,
    pad as pad,
    parallel_stack as parallel_stack,
    reverse as reverse,
    split as split,
    stack as stack,
    tf_tile as tile,
    unstack as unstack,
)
from .ops.array_select import (
    boolean_mask as boolean_mask,
    dynamic_partition as dynamic_partition,
    dynamic_stitch as dynamic_stitch,
    gather as gather,
    gather_nd as gather_nd,
    one_hot as one_hot,
    scatter_nd as scatter_nd,
    unique as unique,
    where as where,
)
from .ops.array_shape import (
    bitcast as bitcast,
    broadcast_to as broadcast_to,
    expand_dims as expand_dims,
    identity_n as identity_n,
    invert_permutation as invert_permutation,
    squeeze as squeeze,
    stop_gradient as stop_gradient,
    tf_rank as rank,
    tf_reshape as reshape,
    tf_shape as shape,
    tf_size as size,
    transpose as transpose,
)
from .ops.array_slice import strided_slice as strided_slice, tf_slice as slice
from .ops.control_flow import (
    check_numerics as check_numerics,
    tf_assert as Assert,
    tf_identity as identity,
    tuple_ as tuple,
)
from .ops.linalg import matmul as matmul
from .ops.math_binary import (
    add_n as add_n,
    atan2 as atan2,
    complex_ as complex,
    equal as equal,
    floor_mod as floormod,
    floor_mod as mod,
    floordiv as floordiv,
    greater as greater,
    greater_equal as greater_equal,
    less as less,
    less_equal as less_equal,
    logical_and as logical_and,
    logical_or as logical_or,
    logical_xor as logical_xor,
    maximum as maximum,
    minimum as minimum,
    mul as multiply,
    not_equal as not_equal,
    pow_ as pow,
    real_div as realdiv,
    squared_difference as squared_difference,
    sub as subtract,
    tf_add as add,
    tf_div as div,
    truediv as divide,
    truediv as truediv,
    truncate_div as truncatediv,
    truncate_mod as truncatemod,
)
from .ops.math_unary import (
    acos as acos,
    acosh as acosh,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atanh as atanh,
    ceil as ceil,
    cos as cos,
    cosh as cosh,
    exp as exp,
    expm1 as expm1,
    floor as floor,
    is_finite as is_finite,
    is_inf as is_inf,
    is_nan as is_nan,
    log as log,
    log1p as log1p,
    logical_not as logical_not,
    neg as negative,
    reciprocal as reciprocal,
    rint as rint,
    rsqrt as rsqrt,
    sigmoid as sigmoid,
    sign as sign,
    sin as sin,
    sinh as sinh,
    sqrt as sqrt,
    square as square,
    tan as tan,
    tanh as tanh,
    tf_abs as abs,
    tf_cast as cast,
    tf_conj as conj,
    tf_imag as imag,
    tf_real as real,
    tf_round as round,
    to_bfloat16 as to_bfloat16,
    to_complex64 as to_complex64,
    to_complex128 as to_complex128,
    to_double as to_double,
    to_float as to_float,
    to_int32 as to_int32,
    to_int64 as to_int64,
)
from .ops.random import (
    multinomial as multinomial,
    random_crop as random_crop,
    random_normal as random_normal,
    random_shuffle as random_shuffle,
    random_uniform as random_uniform,
    truncated_normal as truncated_normal,
)
from .ops.reduction import (
    argmax as argmax,
    argmin as argmin,
    reduce_all as reduce_all,
    reduce_any as reduce_any,
    reduce_logsumexp as reduce_logsumexp,
    reduce_max as reduce_max,
    reduce_mean as reduce_mean,
    reduce_min as reduce_min,
    reduce_prod as reduce_prod,
    reduce_sum as reduce_sum,
    tf_cumprod as cumprod,
    tf_cumsum as cumsum,
)
from .random_seed import get_seed as get_seed, set_random_seed as set_random_seed
from .session import (
    InteractiveSession as InteractiveSession,
    RunMetadata as RunMetadata,
    RunOptions as RunOptions,
    Session as Session,
)
from .tensor_shape import (
    Dimension as Dimension,
    TensorShape as TensorShape,
    broadcast_static_shape as broadcast_static_shape,
    dimension_value as dimension_value,
)
from .variable_scope import (
    AUTO_REUSE as AUTO_REUSE,
    VariableScope as VariableScope,
    get_local_variable as get_local_variable,
    get_variable as get_variable,
    get_variable_scope as get_variable_scope,
    no_regularizer as no_regularizer,
    variable_op_scope as variable_op_scope,
    variable_scope as variable_scope,
)
from .variables import (
    Variable as Variable,
    VariableAggregation as VariableAggregation,
    VariableSynchronization as VariableSynchronization,
    all_variables as all_variables,
    assign as assign,
    assign_add as assign_add,
    assign_sub as assign_sub,
    disable_resource_variables as disable_resource_variables,
    enable_resource_variables as enable_resource_variables,
    global_variables as global_variables,
    global_variables_initializer as global_variables_initializer,
    global_variables_initializer as initialize_all_variables,
    is_variable_initialized as is_variable_initialized,
    local_variables as local_variables,
    local_variables_initializer as local_variables_initializer,
    model_variables as model_variables,
    moving_average_variables as moving_average_variables,
    report_uninitialized_variables as report_uninitialized_variables,
    resource_variables_enabled as resource_variables_enabled,
    tables_initializer as initialize_all_tables,
    tables_initializer as tables_initializer,
    trainable_variables as trainable_variables,
    variables_initializer as initialize_variables,
    variables_initializer as variables_initializer,
)

# What scripts check before they use a feature; the API is 1.15's.
__version__ = VERSION = "1.15.0"
newaxis = None
