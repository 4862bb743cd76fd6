"""Error functions and the gamma function's logarithm and derivative, as Chebyshev series in NumPy.

All is computed in float64 and rounded once, so that float32 results are correctly rounded but for ties.
In float64 the error stays at a few units in the last place, but for lgamma and digamma close to one
of their zeros (lgamma's at 1 and 2 aside), where it is that of the terms that cancel there.

The series are interpolations at Chebyshev nodes, computed with 60 digits. Sources: Shepherd and Laframboise,
"Chebyshev approximation of (1 + 2x) exp(x^2) erfc x in 0 <= x < infinity", Math. Comp. 36 (1981), for the
mapping of the half-line; Abramowitz and Stegun, 6.1.41 and 6.3.18, for the asymptotic series.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from .arrays import Array

# erf(x) / x on [-1, 1], by 2 x^2 - 1
_ERF = (
    0.9754769393826541,
    -0.14226120510371365,
    0.010035582187599796,
    -0.0005768764699767485,
    2.741993125219606e-05,
    -1.1043175507344507e-06,
    3.8488755420345036e-08,
    -1.1808582533875466e-09,
    3.2334215826050907e-11,
    -7.991015947004549e-13,
    1.7990725113961456e-14,
    -3.718635487818693e-16,
)
# erf(x) / x on [-4, 4] to 10 digits, by x^2 / 8 - 1
_ERF_SINGLE = (
    0.48591295690286307,
    -0.3454078550049498,
    0.16182910121364605,
    -0.07648275610550889,
    0.03466993680050752,
    -0.014811864147814756,
    0.005922937956232048,
    -0.0022118406588101133,
    0.000771415427840231,
    -0.0002515965878094944,
    7.688658221076946e-05,
    -2.206549593884078e-05,
    5.961274041518158e-06,
    -1.5197750712645664e-06,
    3.6649304334520724e-07,
    -8.378998356801465e-08,
    1.820144886058123e-08,
    -3.7644779416705625e-09,
    7.427368551387369e-10,
    -1.400531848440494e-10,
)
# (1 + 2 x) exp(x^2) erfc(x) for x >= 0, by (x - 3.75) / (x + 3.75)
_ERFCX = (
    1.1775789345674017,
    -0.004590054580646478,
    -0.08424913336651792,
    0.05920993999819189,
    -0.026658668435305753,
    0.009074997670705265,
    -0.002413163540417608,
    0.0004907758365258086,
    -6.916973302501207e-05,
    4.13902798607301e-06,
    7.74038306619849e-07,
    -2.1886401049234397e-07,
    1.076499946567091e-08,
    4.521959811218287e-09,
    -7.754400208831351e-10,
    -6.318088340886684e-11,
    2.86879501093067e-11,
    1.9455868545777347e-13,
    -9.65469674843344e-13,
    3.25254814814874e-14,
    3.3478119482868056e-14,
    -1.864562880419313e-15,
    -1.2507950530688648e-15,
    7.418235256624044e-17,
    5.068148904796111e-17,
)
# lgamma(1 + d) / d, d in [-0.5, 0.5], by 2 d
_LGAMMA_1 = (
    -0.633011426275031,
    0.4405675574678963,
    -0.057857409449912446,
    0.010513973690267811,
    -0.002163989092091715,
    0.0004744402338724658,
    -0.00010799644528099427,
    2.5201155299530276e-05,
    -5.986014498026819e-06,
    1.4410616180293054e-06,
    -3.5060690575761177e-07,
    8.603823016763753e-08,
    -2.126510912478688e-08,
    5.287778091463614e-09,
    -1.3217135752166157e-09,
    3.3186698554450495e-10,
    -8.365902567746219e-11,
    2.116338666160694e-11,
    -5.370507653794381e-12,
    1.3666688100545857e-12,
    -3.486660039885161e-13,
    8.915622432767707e-14,
    -2.28454959350908e-14,
    5.86514671522212e-15,
    -1.5084071183968602e-15,
    3.885614648428306e-16,
    -1.0024188186640361e-16,
    2.5896418565384152e-17,
)
# lgamma(2 + d) / d, d in [-0.5, 1], by (d - 0.25) / 0.75
_LGAMMA_2 = (
    0.48362763659842517,
    0.22408351337696908,
    -0.016061611364725618,
    0.0016796351005504537,
    -0.000206207082576848,
    2.7619482587698902e-05,
    -3.902432064395172e-06,
    5.712600238782988e-07,
    -8.57232441585347e-08,
    1.3098706178370361e-08,
    -2.0291174319191596e-09,
    3.177019404112652e-10,
    -5.0168902255267044e-11,
    7.977607508944761e-12,
    -1.2759320707466868e-12,
    2.0507506001786822e-13,
    -3.309998326505828e-14,
    5.362087191185866e-15,
    -8.714427500704616e-16,
    1.4203170417419452e-16,
    -2.3208252786405174e-17,
)
# lgamma(x) / (x - 2), x in [3, 10], by (x - 6.5) / 3.5
_LGAMMA_3 = (
    1.2045371323056087,
    0.44322427033636896,
    -0.05572426670933887,
    0.009841504774653448,
    -0.0020132418100443175,
    0.00044754314246356266,
    -0.00010496505519394736,
    2.5554788801519233e-05,
    -6.3945255956733625e-06,
    1.633889141021782e-06,
    -4.2438099960041694e-07,
    1.1168558259932338e-07,
    -2.9709636588697106e-08,
    7.973654557691283e-09,
    -2.156034636803361e-09,
    5.86678887333067e-10,
    -1.6050803531795557e-10,
    4.4118810365851487e-11,
    -1.217637059649503e-11,
    3.3725647836272586e-12,
    -9.370617732891492e-13,
    2.6108833966024876e-13,
    -7.292681807215459e-14,
    2.0415306107719066e-14,
    -5.726607837598227e-15,
    1.6092705880334263e-15,
    -4.5297986723448425e-16,
    1.276980409728473e-16,
    -3.604874634078739e-17,
)

# B(2k) / (2k (2k - 1)): lgamma's terms 1 / x^(2k - 1); times 2k - 1, digamma's terms 1 / x^(2k)
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
_HALF_LOG_2_PI = 0.9189385332046727
_ASYMPTOTIC = 10.0
_BLOCK = 1 << 14
"""Elements at a time, so that a series' many passes stay in the cache."""


def _blockwise(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """`function` of float64 vectors as one of arrays of any floating dtype and shape."""

    @functools.wraps(function)
    def whole(x: Array) -> Array:
        x = np.asarray(x)
        flat, result = x.reshape(-1), np.empty(x.size, x.dtype)
        with np.errstate(all="ignore"):
            for start in range(0, x.size, _BLOCK):
                part = slice(start, start + _BLOCK)
                result[part] = function(flat[part].astype(np.float64))
        return result.reshape(x.shape)

    return whole


def erf(x: Array) -> Array:
    """The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.

    Args:
        x: A floating array of any shape.

    Returns:
        The same shape and dtype.
    """
    return _erf(x) if x.dtype == np.float64 else _erf_single(x)


@_blockwise
def _erf(x: Array) -> Array:
    size = np.abs(x)
    small = size < 1
    near = np.where(small, x, 0)
    far = np.copysign(1 - _erfc_positive(np.where(small, 1, size)), x)
    return np.where(small, near * series(_ERF, 2 * near * near - 1), far)


@_blockwise
def _erf_single(x: Array) -> Array:
    """To 10 digits."""
    x = np.clip(x, -4, 4)
    return np.asarray(x * series(_ERF_SINGLE, x * x / 8 - 1))


@_blockwise
def erfc(x: Array) -> Array:
    """1 - erf(x), without cancellation for large x.

    Args:
        x: A floating array of any shape.

    Returns:
        The same shape and dtype.
    """
    size = np.abs(x)
    small = size < 0.5
    near = np.where(small, x, 0)
    tail = _erfc_positive(np.where(small, 1, size))
    return np.where(small, 1 - near * series(_ERF, 2 * near * near - 1), np.where(x < 0, 2 - tail, tail))


@_blockwise
def lgamma(x: Array) -> Array:
    """The logarithm of the absolute value of the gamma function; inf at 0, -1, -2, ...

    Args:
        x: A floating array of any shape.

    Returns:
        The same shape and dtype.
    """
    size = np.abs(x)
    result = _lgamma_positive(np.where(x < 0, 1 + size, x))
    # gamma(x) gamma(-x) = -pi / (x sin(pi x)), and gamma(1 + size) = size gamma(size)
    result = np.where(x < 0, np.log(np.pi / np.abs(_sin_pi(size))) - result, result)
    return np.where(np.isinf(x) | ((x <= 0) & (x == np.floor(x))), np.inf, result + 0.0)


@_blockwise
def digamma(x: Array) -> Array:
    """The derivative of lgamma; NaN at 0, -1, -2, ...

    Args:
        x: A floating array of any shape.

    Returns:
        The same shape and dtype.
    """
    negative = x < 0
    # psi(1 - x) - psi(x) = pi / tan(pi x)
    at = np.where(negative, 1 - x, x)
    shift = np.zeros_like(at)
    for _ in range(int(_ASYMPTOTIC)):
        low = at < _ASYMPTOTIC
        shift = np.where(low, shift + 1 / at, shift)
        at = np.where(low, at + 1, at)
    square = 1 / (at * at)
    terms = [(2 * k + 1) * term for k, term in enumerate(_STIRLING)]
    result = np.log(at) - 0.5 / at - square * _polynomial(terms, square) - shift
    size = np.abs(x)
    cotangent = _sin_pi(size + 0.5) / _sin_pi(size)  # of -x: it is odd
    result = np.where(negative, result + np.pi * cotangent, result)
    return np.where((x <= 0) & (x == np.floor(x)), np.nan, result)


def series(coefficients: Sequence[float], x: Array) -> Array:
    """The Chebyshev series at x in [-1, 1], by Clenshaw's recurrence."""
    twice = 2 * x
    last = before = np.zeros_like(x)
    for coefficient in coefficients[:0:-1]:
        last, before = twice * last - before + coefficient, last
    return np.asarray(x * last - before + coefficients[0])


def _polynomial(coefficients: Sequence[float], x: Array) -> Array:
    result = np.zeros_like(x)
    for coefficient in reversed(coefficients):
        result = result * x + coefficient
    return result


def _erfc_positive(x: Array) -> Array:
    """Of x >= 0."""
    x = np.minimum(x, 30.0)  # where it has underflowed
    # x^2 in two parts: its rounding error alone would cost ten bits of exp(-x^2)
    head = x.astype(np.float32).astype(np.float64)
    decay = np.exp(-head * head) * np.exp(-(x - head) * (x + head))
    return np.asarray(decay * series(_ERFCX, (x - 3.75) / (x + 3.75)) / (1 + 2 * x))


def _lgamma_positive(x: Array) -> Array:
    """Of x >= 0."""
    below = x < 0.5
    first = np.where(below, x, np.clip(x, 0.5, 1.5) - 1)
    second = np.clip(x, 1.5, 3) - 2
    third = np.clip(x, 3, _ASYMPTOTIC)
    large = np.maximum(x, _ASYMPTOTIC)
    near_1 = first * series(_LGAMMA_1, 2 * first)
    near_2 = second * series(_LGAMMA_2, (second - 0.25) / 0.75)
    middle = (third - 2) * series(_LGAMMA_3, (third - 6.5) / 3.5)
    correction = _polynomial(_STIRLING, 1 / (large * large)) / large
    far = (large - 0.5) * (np.log(large) - 1) + (_HALF_LOG_2_PI - 0.5) + correction
    return np.select(
        [below, x <= 1.5, x <= 3, x <= _ASYMPTOTIC], [near_1 - np.log(x), near_1, near_2, middle], far
    )


def _sin_pi(x: Array) -> Array:
    """sin(pi x) for x >= 0: exact at the integers, where sin(pi * x) is not."""
    part = np.fmod(x, 2)
    part = np.where(part > 1, part - 2, part)
    part = np.where(part > 0.5, 1 - part, np.where(part < -0.5, -1 - part, part))
    return np.sin(np.pi * part)
