"""`tf.nn`: activations, convolutions, pooling, normalization, losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import not_yet, rnn_cell
from .ctc import collapse_repeated, ctc_loss_v2, ctc_unique_labels
from .embeddings import embedding_lookup, embedding_lookup_sparse, safe_embedding_lookup_sparse
from .moments import (
    compute_average_loss,
    normalize_moments,
    scale_regularization_loss,
    sufficient_statistics,
    weighted_moments,
)
from .ops.array_select import in_top_k, top_k
from .ops.array_space import (
    depth_to_space,
    space_to_batch,
    space_to_depth,
)
from .ops.ctc import (
    ctc_beam_search_decoder,
    ctc_beam_search_decoder_v2,
    ctc_greedy_decoder,
    ctc_loss,
)
from .ops.math_unary import sigmoid, tanh
from .ops.nn import (
    bias_add,
    crelu,
    dropout,
    elu,
    leaky_relu,
    log_softmax,
    relu,
    relu6,
    relu_layer,
    selu,
    softmax,
    softplus,
    softsign,
    swish,
    xw_plus_b,
)
from .ops.nn_conv import (
    atrous_conv2d,
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_transpose,
    convolution,
    depthwise_conv2d,
    depthwise_conv2d_native,
    separable_conv2d,
)
from .ops.nn_conv3d import (
    avg_pool3d,
    conv3d,
    conv3d_backprop_filter_v2,
    conv3d_backprop_filter_v2 as conv3d_backprop_filter,
    conv3d_transpose,
    max_pool3d,
)
from .ops.nn_dilated import atrous_conv2d_transpose, with_space_to_batch
from .ops.nn_dilation import (
    dilation2d,
    erosion2d,
)
from .ops.nn_fractional import (
    fractional_avg_pool,
    fractional_max_pool,
)
from .ops.nn_loss import (
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
    zero_fraction,
)
from .ops.nn_norm import (
    batch_norm_with_global_normalization,
    batch_normalization,
    fused_batch_norm,
    l2_normalize,
    lrn,
    lrn as local_response_normalization,
    moments,
)
from .ops.nn_pool import avg_pool, avg_pool2d, max_pool, max_pool2d, max_pool_with_argmax, pool
from .ops.nn_spatial import (
    avg_pool1d,
    avg_pool_v2,
    conv2d_backprop_filter,
    conv2d_backprop_input,
    conv_transpose,
    depthwise_conv2d_native_backprop_filter,
    depthwise_conv2d_native_backprop_filter as depthwise_conv2d_backprop_filter,
    depthwise_conv2d_native_backprop_input,
    depthwise_conv2d_native_backprop_input as depthwise_conv2d_backprop_input,
    max_pool1d,
    max_pool_v2,
)
from .ops.quantized import (
    quantized_avg_pool,
    quantized_conv2d,
    quantized_max_pool,
    quantized_relu_x,
)
from .ops.random_candidates import (
    all_candidate_sampler,
    compute_accidental_hits,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from .ops.reduction import l2_loss
from .rnn import bidirectional_dynamic_rnn, dynamic_rnn, raw_rnn
from .rnn_static import static_bidirectional_rnn, static_rnn, static_state_saving_rnn
from .sampled_losses import nce_loss, sampled_softmax_loss

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "all_candidate_sampler", "atrous_conv2d", "atrous_conv2d_transpose", "avg_pool", "avg_pool1d",
    "avg_pool2d", "avg_pool3d", "avg_pool_v2", "batch_norm_with_global_normalization",
    "batch_normalization", "bias_add", "bidirectional_dynamic_rnn", "collapse_repeated",
    "compute_accidental_hits", "compute_average_loss", "conv1d", "conv1d_transpose", "conv2d",
    "conv2d_backprop_filter", "conv2d_backprop_input", "conv2d_transpose", "conv3d",
    "conv3d_backprop_filter", "conv3d_backprop_filter_v2", "conv3d_transpose", "conv_transpose",
    "convolution", "crelu", "ctc_beam_search_decoder", "ctc_beam_search_decoder_v2", "ctc_greedy_decoder",
    "ctc_loss", "ctc_loss_v2", "ctc_unique_labels", "depth_to_space", "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter", "depthwise_conv2d_backprop_input", "depthwise_conv2d_native",
    "depthwise_conv2d_native_backprop_filter", "depthwise_conv2d_native_backprop_input", "dilation2d",
    "dropout", "dynamic_rnn", "elu", "embedding_lookup", "embedding_lookup_sparse", "erosion2d",
    "fixed_unigram_candidate_sampler", "fractional_avg_pool", "fractional_max_pool", "fused_batch_norm",
    "in_top_k", "l2_loss", "l2_normalize", "leaky_relu", "learned_unigram_candidate_sampler",
    "local_response_normalization", "log_poisson_loss", "log_softmax", "log_uniform_candidate_sampler",
    "lrn", "max_pool", "max_pool1d", "max_pool2d", "max_pool3d", "max_pool_v2", "max_pool_with_argmax",
    "moments", "nce_loss", "normalize_moments", "pool", "quantized_avg_pool", "quantized_conv2d",
    "quantized_max_pool", "quantized_relu_x", "raw_rnn", "relu", "relu6", "relu_layer", "rnn_cell",
    "safe_embedding_lookup_sparse", "sampled_softmax_loss", "scale_regularization_loss", "selu",
    "separable_conv2d", "sigmoid", "sigmoid_cross_entropy_with_logits", "softmax",
    "softmax_cross_entropy_with_logits", "softmax_cross_entropy_with_logits_v2", "softplus", "softsign",
    "space_to_batch", "space_to_depth", "sparse_softmax_cross_entropy_with_logits",
    "static_bidirectional_rnn", "static_rnn", "static_state_saving_rnn", "sufficient_statistics", "swish",
    "tanh", "top_k", "uniform_candidate_sampler", "weighted_cross_entropy_with_logits",
    "weighted_moments", "with_space_to_batch", "xw_plus_b", "zero_fraction",
]  # fmt: skip
