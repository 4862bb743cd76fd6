"""`tf.nn`: activations, convolutions, pooling, normalization, losses."""

from __future__ import annotations

from .ops.array_select import in_top_k as in_top_k, top_k as top_k
from .ops.math_unary import sigmoid as sigmoid, tanh as tanh
from .ops.nn import (
    bias_add as bias_add,
    crelu as crelu,
    dropout as dropout,
    elu as elu,
    leaky_relu as leaky_relu,
    log_softmax as log_softmax,
    relu as relu,
    relu6 as relu6,
    relu_layer as relu_layer,
    selu as selu,
    softmax as softmax,
    softplus as softplus,
    softsign as softsign,
    swish as swish,
    xw_plus_b as xw_plus_b,
)
from .ops.nn_conv import (
    atrous_conv2d as atrous_conv2d,
    conv1d as conv1d,
    conv2d as conv2d,
    conv2d_transpose as conv2d_transpose,
    convolution as convolution,
    depthwise_conv2d as depthwise_conv2d,
    depthwise_conv2d_native as depthwise_conv2d_native,
    separable_conv2d as separable_conv2d,
)
from .ops.nn_loss import (
    log_poisson_loss as log_poisson_loss,
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2 as softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
    zero_fraction as zero_fraction,
)
from .ops.nn_norm import (
    batch_normalization as batch_normalization,
    fused_batch_norm as fused_batch_norm,
    l2_normalize as l2_normalize,
    lrn as local_response_normalization,
    lrn as lrn,
    moments as moments,
)
from .ops.nn_pool import avg_pool as avg_pool, max_pool as max_pool
from .ops.reduction import l2_loss as l2_loss
