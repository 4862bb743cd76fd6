"""TensorFlow 1's API for static graphs, on NumPy: `from sgtool import graphcore as tf`.

This file and its neighbours named like TensorFlow's modules (`nn`, `train`, `math`, ...) only name the
public surface; what stands behind each name is in the module that it is imported from.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

# The op families first: they install the operators of tensors.
from . import ops  # isort: skip
from . import (
    audio,
    bitwise,
    compat,
    contrib,
    data,
    dtype_names as dtypes,
    errors,
    gfile,
    graph_util,
    image,
    initializers,
    io,
    layers,
    linalg,
    lookup,
    losses,
    math,
    metrics,
    nest,
    nn,
    not_yet,
    python_io,
    quantization,
    queue,
    random,
    saved_model,
    sets,
    signal,
    sparse,
    spectral,
    strings,
    summary,
    train,
    version,
)
from .checks import (
    add_check_numerics_ops,
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_integer,
    assert_less,
    assert_less_equal,
    assert_near,
    assert_negative,
    assert_non_negative,
    assert_non_positive,
    assert_none_equal,
    assert_positive,
    assert_proper_iterable,
    assert_same_float_dtype,
    assert_type,
    is_non_decreasing,
    is_numeric_tensor,
    is_strictly_increasing,
    verify_tensor_all_finite,
)
from .clip import clip_by_average_norm, clip_by_global_norm, clip_by_norm, clip_by_value, global_norm
from .conditional import case, cond, switch_case
from .confusion import confusion_matrix
from .convert import (
    constant,
    convert_to_tensor,
    convert_to_tensor_or_indexed_slices,
    register_tensor_conversion_function,
)
from .critical_section import CriticalSection
from .ctc import ctc_loss_v2
from .custom_gradient import custom_gradient, grad_pass_through, recompute_grad
from .data_structures import OptionalSpec
from .default import (
    GraphKeys,
    add_to_collection,
    add_to_collections,
    colocate_with,
    container,
    control_dependencies,
    device,
    get_collection,
    get_collection_ref,
    get_default_graph,
    get_default_session,
    name_scope,
    op_scope,
    reset_default_graph,
)
from .device import DeviceSpec
from .dtypes import (
    DType,
    as_dtype,
    bfloat16,
    bool_ as bool,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from .errors import OpError
from .example_parsing import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
    parse_example,
    parse_single_example,
    parse_single_sequence_example,
)
from .fetches import register_session_run_conversion_functions
from .gradients import (
    AggregationMethod,
    RegisterGradient,
    UnconnectedGradients,
    gradients,
    hessians,
    not_differentiable as NoGradient,
    not_differentiable as NotDifferentiable,
    not_differentiable as no_gradient,
)
from .graph import Graph
from .higher_order import foldl, foldr, map_fn, scan
from .importer import import_graph_def
from .indexed_slices import IndexedSlices, IndexedSlicesValue
from .initializers import (
    constant_initializer,
    glorot_normal_initializer,
    glorot_uniform_initializer,
    ones_initializer,
    orthogonal_initializer,
    random_normal_initializer,
    random_uniform_initializer,
    truncated_normal_initializer,
    uniform_unit_scaling_initializer,
    variance_scaling_initializer,
    zeros_initializer,
)
from .logging import get_logger
from .modes import (
    control_flow_v2_enabled,
    disable_control_flow_v2,
    disable_eager_execution,
    disable_tensor_equality,
    disable_v2_behavior,
    disable_v2_tensorshape,
    enable_control_flow_v2,
    enable_eager_execution,
    enable_tensor_equality,
    enable_v2_behavior,
    enable_v2_tensorshape,
    executing_eagerly,
    init_scope,
)
from .op import group, no_op, raw_ops
from .operation import Operation, Tensor
from .ops.accumulator import (
    ConditionalAccumulator,
    ConditionalAccumulatorBase,
    SparseConditionalAccumulator,
)
from .ops.array_copy import fingerprint, guarantee_const
from .ops.array_create import (
    ensure_shape,
    eye,
    linspace,
    linspace as lin_space,
    ones,
    ones_like,
    placeholder,
    placeholder_with_default,
    tf_fill as fill,
    tf_range as range,
    zeros,
    zeros_like,
)
from .ops.array_functions import (
    argsort,
    broadcast_dynamic_shape,
    meshgrid,
    repeat,
    required_space_to_batch_paddings,
    reverse_sequence,
    sequence_mask,
    sort,
    sparse_mask,
    where_v2,
)
from .ops.array_join import (
    concat,
    pad,
    parallel_stack,
    reverse,
    reverse as reverse_v2,
    roll,
    split,
    stack,
    tf_tile as tile,
    unstack,
)
from .ops.array_select import (
    batch_gather,
    boolean_mask,
    dynamic_partition,
    dynamic_stitch,
    gather,
    gather_nd,
    one_hot,
    scatter_nd,
    setdiff1d,
    sparse_to_dense,
    tensor_scatter_add,
    tensor_scatter_add as tensor_scatter_nd_add,
    tensor_scatter_sub,
    tensor_scatter_sub as tensor_scatter_nd_sub,
    tensor_scatter_update,
    tensor_scatter_update as tensor_scatter_nd_update,
    unique,
    unique_with_counts,
    where,
)
from .ops.array_shape import (
    bitcast,
    broadcast_to,
    expand_dims,
    identity_n,
    invert_permutation,
    matrix_transpose,
    squeeze,
    stop_gradient,
    tf_rank as rank,
    tf_reshape as reshape,
    tf_shape as shape,
    tf_shape_n as shape_n,
    tf_size as size,
    transpose,
    unravel_index,
)
from .ops.array_slice import strided_slice, tf_slice as slice
from .ops.array_space import (
    batch_to_space,
    batch_to_space_nd,
    depth_to_space,
    space_to_batch,
    space_to_batch_nd,
    space_to_depth,
)
from .ops.control_flow import (
    check_numerics,
    tf_assert as Assert,
    tf_identity as identity,
    tuple_ as tuple,
)
from .ops.ctc import (
    edit_distance,
)
from .ops.data_flow import (
    FIFOQueue,
    PaddingFIFOQueue,
    PriorityQueue,
    QueueBase,
    RandomShuffleQueue,
)
from .ops.einsum import einsum
from .ops.fake_quant import (
    fake_quant_with_min_max_args,
    fake_quant_with_min_max_args_gradient,
    fake_quant_with_min_max_vars,
    fake_quant_with_min_max_vars_gradient,
    fake_quant_with_min_max_vars_per_channel,
    fake_quant_with_min_max_vars_per_channel_gradient,
)
from .ops.files_matching import matching_files
from .ops.histogram import bincount, histogram_fixed_width, histogram_fixed_width_bins, searchsorted
from .ops.io import read_file, write_file
from .ops.linalg import cross, matmul, sparse_matmul
from .ops.linalg_eig import matrix_square_root, qr_op as qr, self_adjoint_eig, self_adjoint_eigvals, svd
from .ops.linalg_functions import norm, tensordot
from .ops.linalg_solve import (
    cholesky,
    cholesky_solve,
    matrix_determinant,
    matrix_inverse,
    matrix_solve,
    matrix_solve_ls,
    matrix_triangular_solve,
)
from .ops.logging import tf_print as print, tf_print_v1 as Print, timestamp
from .ops.math_binary import (
    accumulate_n,
    add_n,
    atan2,
    equal,
    floor_mod as floormod,
    floor_mod as mod,
    floordiv,
    floordiv as floor_div,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    mul as multiply,
    not_equal,
    pow_ as pow,
    real_div as realdiv,
    squared_difference,
    sub as subtract,
    tf_add as add,
    tf_div as div,
    truediv,
    truediv as divide,
    truncate_div as truncatediv,
    truncate_mod as truncatemod,
)
from .ops.math_functions import (
    complex_of as complex,
    count_nonzero,
    div_no_nan,
    log_sigmoid,
    saturate_cast,
    scalar_mul,
)
from .ops.math_unary import (
    acos,
    acosh,
    angle,
    asin,
    asinh,
    atan,
    atanh,
    ceil,
    cos,
    cosh,
    exp,
    expm1,
    floor,
    is_finite,
    is_inf,
    is_nan,
    log,
    log1p,
    logical_not,
    neg as negative,
    reciprocal,
    rint,
    rsqrt,
    sigmoid,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
    tf_abs as abs,
    tf_cast as cast,
    tf_conj as conj,
    tf_imag as imag,
    tf_real as real,
    tf_round as round,
    to_bfloat16,
    to_complex64,
    to_complex128,
    to_double,
    to_float,
    to_int32,
    to_int64,
)
from .ops.matrix_diag import (
    diag,
    matrix_band_part,
    matrix_diag,
    matrix_diag_part,
    matrix_set_diag,
    tensor_diag_part as diag_part,
    trace,
)
from .ops.nn_dilation import (
    extract_image_patches,
    extract_volume_patches,
)
from .ops.parsing import decode_csv, decode_raw
from .ops.parsing_decode import decode_compressed, decode_json_example
from .ops.quantized import (
    dequantize,
    quantize_v2,
    quantize_v2 as quantize,
    quantized_concat,
)
from .ops.random import (
    multinomial,
    random_crop,
    random_normal,
    random_shuffle,
    random_uniform,
    truncated_normal,
)
from .ops.random_state import random_gamma, random_poisson
from .ops.readers import (
    FixedLengthRecordReader,
    IdentityReader,
    ReaderBase,
    TextLineReader,
    TFRecordReader,
    WholeFileReader,
)
from .ops.reduction import (
    argmax,
    argmax as arg_max,
    argmin,
    argmin as arg_min,
    reduce_all,
    reduce_any,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
    tf_cumprod as cumprod,
    tf_cumsum as cumsum,
)
from .ops.script import py_func, py_func as numpy_function
from .ops.segment import (
    segment_max,
    segment_mean,
    segment_min,
    segment_prod,
    segment_sum,
    sparse_segment_mean,
    sparse_segment_sqrt_n,
    sparse_segment_sum,
    unsorted_segment_max,
    unsorted_segment_mean,
    unsorted_segment_min,
    unsorted_segment_prod,
    unsorted_segment_sqrt_n,
    unsorted_segment_sum,
)
from .ops.session_state import (
    delete_session_tensor,
    get_session_handle,
    get_session_tensor,
)
from .ops.sparse_serialize import parse_tensor, serialize_tensor
from .ops.special import (
    betainc,
    digamma,
    erf,
    erfc,
    igamma,
    igammac,
    lbeta,
    lgamma,
    polygamma,
    zeta,
)
from .ops.spectral import fft, fft2d, fft3d, ifft, ifft2d, ifft3d
from .ops.state_scatter import (
    batch_scatter_update,
    scatter_add,
    scatter_div,
    scatter_max,
    scatter_min,
    scatter_mul,
    scatter_nd_add,
    scatter_nd_sub,
    scatter_nd_update,
    scatter_sub,
    scatter_update,
)
from .ops.string import (
    as_string,
    decode_base64,
    encode_base64,
    hash_bucket as string_to_hash_bucket,
    reduce_join,
    regex_replace,
    string_join,
    string_split,
    string_strip,
    string_to_hash_bucket_fast,
    string_to_hash_bucket_strong,
    string_to_number,
    substr,
)
from .ops.tensor_array import TensorArray
from .partitioned_variable import PartitionedVariable
from .partitioners import (
    create_partitioned_variables,
    fixed_size_partitioner,
    min_max_variable_partitioner,
    variable_axis_size_partitioner,
)
from .random_seed import get_seed, set_random_seed
from .session import (
    InteractiveSession,
    Session,
)
from .shape_checks import assert_rank, assert_rank_at_least, assert_rank_in, assert_scalar
from .sparse import (
    add as sparse_add,
    concat as sparse_concat,
    deserialize_many_sparse,
    fill_empty_rows as sparse_fill_empty_rows,
    maximum as sparse_maximum,
    merge as sparse_merge,
    minimum as sparse_minimum,
    placeholder as sparse_placeholder,
    reduce_max as sparse_reduce_max,
    reduce_max_sparse as sparse_reduce_max_sparse,
    reduce_sum as sparse_reduce_sum,
    reduce_sum_sparse as sparse_reduce_sum_sparse,
    reorder as sparse_reorder,
    reset_shape as sparse_reset_shape,
    reshape as sparse_reshape,
    retain as sparse_retain,
    serialize_many_sparse,
    serialize_sparse,
    slice as sparse_slice,
    softmax as sparse_softmax,
    sparse_dense_matmul as sparse_tensor_dense_matmul,
    split as sparse_split,
    to_dense as sparse_tensor_to_dense,
    to_indicator as sparse_to_indicator,
    transpose as sparse_transpose,
)
from .sparse_tensor import SparseTensor, SparseTensorValue, convert_to_tensor_or_sparse_tensor
from .template import make_template
from .tensor_shape import (
    Dimension,
    TensorShape,
    broadcast_static_shape,
    dimension_at_index,
    dimension_value,
)
from .tensor_util import constant_value as get_static_value, is_tensor, make_ndarray, make_tensor_proto
from .type_spec import IndexedSlicesSpec, SparseTensorSpec, TensorArraySpec, TensorSpec, TypeSpec
from .variable import variable_creator_scope
from .variable_scope import (
    AUTO_REUSE,
    VariableScope,
    get_local_variable,
    get_variable,
    get_variable_scope,
    no_regularizer,
    variable_op_scope,
    variable_scope,
)
from .variables import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
    all_variables,
    assert_variables_initialized,
    assign,
    assign_add,
    assign_sub,
    count_up_to,
    disable_resource_variables,
    enable_resource_variables,
    global_variables,
    global_variables_initializer,
    global_variables_initializer as initialize_all_variables,
    is_variable_initialized,
    local_variables,
    local_variables_initializer,
    local_variables_initializer as initialize_local_variables,
    model_variables,
    moving_average_variables,
    report_uninitialized_variables,
    resource_variables_enabled,
    tables_initializer,
    tables_initializer as initialize_all_tables,
    trainable_variables,
    variables_initializer,
    variables_initializer as initialize_variables,
)
from .version import (
    COMPILER_VERSION,
    GIT_VERSION,
    GRAPH_DEF_VERSION,
    GRAPH_DEF_VERSION_MIN_CONSUMER,
    GRAPH_DEF_VERSION_MIN_PRODUCER,
    VERSION,
)
from .while_loops import while_loop

__version__ = VERSION  # what scripts check before they use a feature
CXX11_ABI_FLAG = MONOLITHIC_BUILD = 0
QUANTIZED_DTYPES = frozenset({qint8, quint8, qint16, quint16, qint32})
newaxis = None

# Messages are made when they are first asked for: importing protobuf takes longer than all else here.
_MESSAGES = frozenset(
    {
        "AttrValue", "ConfigProto", "Event", "GPUOptions", "GraphDef", "GraphOptions", "HistogramProto",
        "LogMessage", "MetaGraphDef", "NameAttrList", "NodeDef", "OptimizerOptions", "RunMetadata",
        "RunOptions", "SessionLog", "Summary", "SummaryMetadata", "TensorInfo",
    }
)  # fmt: skip


# Modules that few programs use, and that take time to import, likewise.
_LATER = frozenset({"app", "debugging", "flags", "logging", "manip", "resource_loader", "test"})
if _TYPE_CHECKING:
    from . import (
        app as app,
        debugging as debugging,
        flags as flags,
        logging as logging,
        manip as manip,
        resource_loader as resource_loader,
        test as test,
    )


def __getattr__(name: str) -> _Any:
    """The message class `tf.<name>`, or a module that is imported when it is first asked for."""
    if name in _LATER:
        return _import_module(f".{name}", __name__)
    if name in _MESSAGES:
        from ..formats import protos

        return getattr(protos, name)
    raise not_yet.missing(__name__, name)


__all__ = [
    "AUTO_REUSE", "COMPILER_VERSION", "CXX11_ABI_FLAG", "GIT_VERSION", "GRAPH_DEF_VERSION",
    "GRAPH_DEF_VERSION_MIN_CONSUMER", "GRAPH_DEF_VERSION_MIN_PRODUCER", "MONOLITHIC_BUILD",
    "QUANTIZED_DTYPES", "VERSION", "AggregationMethod", "Assert", "ConditionalAccumulator",
    "ConditionalAccumulatorBase", "CriticalSection", "DType", "DeviceSpec", "Dimension", "FIFOQueue",
    "FixedLenFeature", "FixedLenSequenceFeature", "FixedLengthRecordReader", "Graph", "GraphKeys",
    "IdentityReader", "IndexedSlices", "IndexedSlicesSpec", "IndexedSlicesValue", "InteractiveSession",
    "NoGradient", "NotDifferentiable", "OpError", "Operation", "OptionalSpec", "PaddingFIFOQueue",
    "PartitionedVariable", "Print", "PriorityQueue", "QueueBase", "RandomShuffleQueue", "ReaderBase",
    "RegisterGradient", "RunMetadata", "RunOptions", "Session", "SparseConditionalAccumulator",
    "SparseFeature", "SparseTensor", "SparseTensorSpec", "SparseTensorValue", "TFRecordReader", "Tensor",
    "TensorArray", "TensorArraySpec", "TensorShape", "TensorSpec", "TextLineReader", "TypeSpec",
    "UnconnectedGradients", "VarLenFeature", "Variable", "VariableAggregation", "VariableScope",
    "VariableSynchronization", "WholeFileReader", "abs", "accumulate_n", "acos", "acosh", "add",
    "add_check_numerics_ops", "add_n", "add_to_collection", "add_to_collections", "all_variables", "angle",
    "arg_max", "arg_min", "argmax", "argmin", "argsort", "as_dtype", "as_string", "asin", "asinh",
    "assert_equal", "assert_greater", "assert_greater_equal", "assert_integer", "assert_less",
    "assert_less_equal", "assert_near", "assert_negative", "assert_non_negative", "assert_non_positive",
    "assert_none_equal", "assert_positive", "assert_proper_iterable", "assert_rank", "assert_rank_at_least",
    "assert_rank_in", "assert_same_float_dtype", "assert_scalar", "assert_type",
    "assert_variables_initialized", "assign", "assign_add", "assign_sub", "atan", "atan2", "atanh", "audio",
    "batch_gather", "batch_scatter_update", "batch_to_space", "batch_to_space_nd", "betainc", "bfloat16",
    "bincount", "bitcast", "bitwise", "bool", "boolean_mask", "broadcast_dynamic_shape",
    "broadcast_static_shape", "broadcast_to", "case", "cast", "ceil", "check_numerics", "cholesky",
    "cholesky_solve", "clip_by_average_norm", "clip_by_global_norm", "clip_by_norm", "clip_by_value",
    "colocate_with", "compat", "complex", "complex64", "complex128", "concat", "cond", "confusion_matrix",
    "conj", "constant", "constant_initializer", "container", "contrib", "control_dependencies",
    "control_flow_v2_enabled", "convert_to_tensor", "convert_to_tensor_or_indexed_slices",
    "convert_to_tensor_or_sparse_tensor", "cos", "cosh", "count_nonzero", "count_up_to",
    "create_partitioned_variables", "cross", "ctc_loss_v2", "cumprod", "cumsum", "custom_gradient", "data",
    "decode_base64", "decode_compressed", "decode_csv", "decode_json_example", "decode_raw",
    "delete_session_tensor", "depth_to_space", "dequantize", "deserialize_many_sparse", "device", "diag",
    "diag_part", "digamma", "dimension_at_index", "dimension_value", "disable_control_flow_v2",
    "disable_eager_execution", "disable_resource_variables", "disable_tensor_equality",
    "disable_v2_behavior", "disable_v2_tensorshape", "div", "div_no_nan", "divide", "double", "dtypes",
    "dynamic_partition", "dynamic_stitch", "edit_distance", "einsum", "enable_control_flow_v2",
    "enable_eager_execution", "enable_resource_variables", "enable_tensor_equality", "enable_v2_behavior",
    "enable_v2_tensorshape", "encode_base64", "ensure_shape", "equal", "erf", "erfc", "errors",
    "executing_eagerly", "exp", "expand_dims", "expm1", "extract_image_patches", "extract_volume_patches",
    "eye", "fake_quant_with_min_max_args", "fake_quant_with_min_max_args_gradient",
    "fake_quant_with_min_max_vars", "fake_quant_with_min_max_vars_gradient",
    "fake_quant_with_min_max_vars_per_channel", "fake_quant_with_min_max_vars_per_channel_gradient", "fft",
    "fft2d", "fft3d", "fill", "fingerprint", "fixed_size_partitioner", "float16", "float32", "float64",
    "floor", "floor_div", "floordiv", "floormod", "foldl", "foldr", "gather", "gather_nd", "get_collection",
    "get_collection_ref", "get_default_graph", "get_default_session", "get_local_variable", "get_logger",
    "get_seed", "get_session_handle", "get_session_tensor", "get_static_value", "get_variable",
    "get_variable_scope", "gfile", "global_norm", "global_variables", "global_variables_initializer",
    "glorot_normal_initializer", "glorot_uniform_initializer", "grad_pass_through", "gradients",
    "graph_util", "greater", "greater_equal", "group", "guarantee_const", "half", "hessians",
    "histogram_fixed_width", "histogram_fixed_width_bins", "identity", "identity_n", "ifft", "ifft2d",
    "ifft3d", "igamma", "igammac", "imag", "image", "import_graph_def", "init_scope",
    "initialize_all_tables", "initialize_all_variables", "initialize_local_variables",
    "initialize_variables", "initializers", "int8", "int16", "int32", "int64", "invert_permutation", "io",
    "is_finite", "is_inf", "is_nan", "is_non_decreasing", "is_numeric_tensor", "is_strictly_increasing",
    "is_tensor", "is_variable_initialized", "layers", "lbeta", "less", "less_equal", "lgamma", "lin_space",
    "linalg", "linspace", "local_variables", "local_variables_initializer", "log", "log1p", "log_sigmoid",
    "logical_and", "logical_not", "logical_or", "logical_xor", "lookup", "losses", "make_ndarray",
    "make_template", "make_tensor_proto", "map_fn", "matching_files", "math", "matmul", "matrix_band_part",
    "matrix_determinant", "matrix_diag", "matrix_diag_part", "matrix_inverse", "matrix_set_diag",
    "matrix_solve", "matrix_solve_ls", "matrix_square_root", "matrix_transpose", "matrix_triangular_solve",
    "maximum", "meshgrid", "metrics", "min_max_variable_partitioner", "minimum", "mod", "model_variables",
    "moving_average_variables", "multinomial", "multiply", "name_scope", "negative", "nest", "newaxis",
    "nn", "no_gradient", "no_op", "no_regularizer", "norm", "not_equal", "numpy_function", "one_hot",
    "ones", "ones_initializer", "ones_like", "op_scope", "ops", "orthogonal_initializer", "pad",
    "parallel_stack", "parse_example", "parse_single_example", "parse_single_sequence_example",
    "parse_tensor", "placeholder", "placeholder_with_default", "polygamma", "pow", "print", "py_func",
    "python_io", "qint8", "qint16", "qint32", "qr", "quantization", "quantize", "quantize_v2",
    "quantized_concat", "queue", "quint8", "quint16", "random", "random_crop", "random_gamma",
    "random_normal", "random_normal_initializer", "random_poisson", "random_shuffle", "random_uniform",
    "random_uniform_initializer", "range", "rank", "raw_ops", "read_file", "real", "realdiv", "reciprocal",
    "recompute_grad", "reduce_all", "reduce_any", "reduce_join", "reduce_logsumexp", "reduce_max",
    "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "regex_replace",
    "register_session_run_conversion_functions", "register_tensor_conversion_function", "repeat",
    "report_uninitialized_variables", "required_space_to_batch_paddings", "reset_default_graph", "reshape",
    "resource", "resource_variables_enabled", "reverse", "reverse_sequence", "reverse_v2", "rint", "roll",
    "round", "rsqrt", "saturate_cast", "saved_model", "scalar_mul", "scan", "scatter_add", "scatter_div",
    "scatter_max", "scatter_min", "scatter_mul", "scatter_nd", "scatter_nd_add", "scatter_nd_sub",
    "scatter_nd_update", "scatter_sub", "scatter_update", "searchsorted", "segment_max", "segment_mean",
    "segment_min", "segment_prod", "segment_sum", "self_adjoint_eig", "self_adjoint_eigvals",
    "sequence_mask", "serialize_many_sparse", "serialize_sparse", "serialize_tensor", "set_random_seed",
    "setdiff1d", "sets", "shape", "shape_n", "sigmoid", "sign", "signal", "sin", "sinh", "size", "slice",
    "sort", "space_to_batch", "space_to_batch_nd", "space_to_depth", "sparse", "sparse_add",
    "sparse_concat", "sparse_fill_empty_rows", "sparse_mask", "sparse_matmul", "sparse_maximum",
    "sparse_merge", "sparse_minimum", "sparse_placeholder", "sparse_reduce_max", "sparse_reduce_max_sparse",
    "sparse_reduce_sum", "sparse_reduce_sum_sparse", "sparse_reorder", "sparse_reset_shape",
    "sparse_reshape", "sparse_retain", "sparse_segment_mean", "sparse_segment_sqrt_n", "sparse_segment_sum",
    "sparse_slice", "sparse_softmax", "sparse_split", "sparse_tensor_dense_matmul",
    "sparse_tensor_to_dense", "sparse_to_dense", "sparse_to_indicator", "sparse_transpose", "spectral",
    "split", "sqrt", "square", "squared_difference", "squeeze", "stack", "stop_gradient", "strided_slice",
    "string", "string_join", "string_split", "string_strip", "string_to_hash_bucket",
    "string_to_hash_bucket_fast", "string_to_hash_bucket_strong", "string_to_number", "strings", "substr",
    "subtract", "summary", "svd", "switch_case", "tables_initializer", "tan", "tanh", "tensor_scatter_add",
    "tensor_scatter_nd_add", "tensor_scatter_nd_sub", "tensor_scatter_nd_update", "tensor_scatter_sub",
    "tensor_scatter_update", "tensordot", "tile", "timestamp", "to_bfloat16", "to_complex64",
    "to_complex128", "to_double", "to_float", "to_int32", "to_int64", "trace", "train",
    "trainable_variables", "transpose", "truediv", "truncated_normal", "truncated_normal_initializer",
    "truncatediv", "truncatemod", "tuple", "uint8", "uint16", "uint32", "uint64",
    "uniform_unit_scaling_initializer", "unique", "unique_with_counts", "unravel_index",
    "unsorted_segment_max", "unsorted_segment_mean", "unsorted_segment_min", "unsorted_segment_prod",
    "unsorted_segment_sqrt_n", "unsorted_segment_sum", "unstack", "variable_axis_size_partitioner",
    "variable_creator_scope", "variable_op_scope", "variable_scope", "variables_initializer",
    "variance_scaling_initializer", "variant", "verify_tensor_all_finite", "version", "where", "where_v2",
    "while_loop", "write_file", "zeros", "zeros_initializer", "zeros_like", "zeta",
]  # fmt: skip
