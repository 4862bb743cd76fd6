"""Incomplete gamma and beta integrals, Hurwitz's zeta function and Bessel functions, in NumPy.

All is computed in float64 and rounded once. Sources: Abramowitz and Stegun, 6.5.29 (series) and 6.5.31
(continued fraction) of the incomplete gamma function, 26.5.8 of the beta one, 23.1.30 (Euler-Maclaurin)
for zeta; the continued fractions are evaluated by Lentz's method. What is outside the domain is as in
Eigen's special functions (r1.15).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .arrays import Array
from .special import digamma, lgamma, series

_EPS = float(np.finfo(np.float64).eps)
_TINY = 1e-300
_STEPS = 5000

# exp(-x) I0(x), x in [0, 8], by x / 4 - 1
_I0_SMALL = (
    0.33839763720473803,
    -0.3046826723431984,
    0.17162090152220877,
    -0.09490109704804764,
    0.04930528423967071,
    -0.02373741480589947,
    0.010546460394594998,
    -0.004324309995050576,
    0.0016394756169413357,
    -0.0005763755745385824,
    0.00018850288509584165,
    -5.754195010082104e-05,
    1.6448448070728896e-05,
    -4.4167383584587505e-06,
    1.1173875391201037e-06,
    -2.670793853940612e-07,
    6.046995022541919e-08,
    -1.300025009986248e-08,
    2.6598237246823866e-09,
    -5.189795601635263e-10,
    9.675809035373237e-11,
    -1.726826291441556e-11,
    2.95505266312964e-12,
    -4.856446783111929e-13,
    7.676185498604936e-14,
    -1.1685332877993451e-14,
    1.715391285555133e-15,
    -2.431279846547955e-16,
    3.3307945188222384e-17,
)
# sqrt(x) exp(-x) I0(x), x >= 8, by 16 / x - 1
_I0_LARGE = (
    0.4022452055070544,
    0.0033691164782556943,
    6.889758346916825e-05,
    2.8913705208347567e-06,
    2.0489185894690638e-07,
    2.266668990498178e-08,
    3.3962320257083865e-09,
    4.94060238822497e-10,
    1.1889147107846439e-11,
    -3.1499165279632416e-11,
    -1.3215811840447713e-11,
    -1.7941785315068062e-12,
    7.180124451383666e-13,
    3.8527783827421426e-13,
    1.54008621752141e-14,
    -4.150569347287222e-14,
    -9.554846698828307e-15,
    3.8116806693526224e-15,
    1.7725601330565263e-15,
    -3.425485619677219e-16,
    -2.8276239805165836e-16,
    3.461222867697461e-17,
    4.46562142029676e-17,
    -4.830504485944182e-18,
    -7.233180487874754e-18,
)
# exp(-x) I1(x) / x, x in [0, 8], by x / 4 - 1
_I1_SMALL = (
    0.12629359322181682,
    -0.17641651835783406,
    0.1026436586898471,
    -0.05294598120809499,
    0.024726449030626516,
    -0.010564084894626197,
    0.004156422944312888,
    -0.0015135724506312532,
    0.0005122859561685758,
    -0.00016176081582589674,
    4.781565107550054e-05,
    -1.3273163656039436e-05,
    3.4702513081376785e-06,
    -8.568720264695455e-07,
    2.0032947535521353e-07,
    -4.445059128796328e-08,
    9.381537386495773e-09,
    -1.8872497517228294e-09,
    3.625590281552117e-10,
    -6.663489723502027e-11,
    1.1736186298890901e-11,
    -1.9839743977649436e-12,
    3.223793365945575e-13,
    -5.042185504727912e-14,
    7.600684294735408e-15,
    -1.1055969477353862e-15,
    1.5536319577362005e-16,
    -2.111421214358166e-17,
    2.7779141127610464e-18,
)
# sqrt(x) exp(-x) I1(x), x >= 8, by 16 / x - 1
_I1_LARGE = (
    0.38928811750914005,
    -0.009761097491361469,
    -0.00011058893876262371,
    -3.882564808877691e-06,
    -2.512236237870209e-07,
    -2.6314688468895196e-08,
    -3.835380385964237e-09,
    -5.589743462196584e-10,
    -1.8974958123505413e-11,
    3.2526035830154884e-11,
    1.4125807436613782e-11,
    2.0356285441470896e-12,
    -7.198551776245908e-13,
    -4.0835511110921974e-13,
    -2.1015418427726643e-14,
    4.272440016711951e-14,
    1.0420276984128802e-14,
    -3.8144030724370075e-15,
    -1.8803547755107825e-15,
    3.3082023109209285e-16,
    2.96262899764595e-16,
    -3.209525921993424e-17,
    -4.6503053684893586e-17,
    4.414348323071708e-18,
    7.517296310842105e-18,
)
_EULER_MACLAURIN = (
    0.08333333333333333,
    -0.001388888888888889,
    3.306878306878307e-05,
    -8.267195767195768e-07,
    2.08767569878681e-08,
    -5.284190138687493e-10,
    1.3382536530684679e-11,
    -3.3896802963225827e-13,
    8.586062056277845e-15,
    -2.174868698558062e-16,
    5.5090028283602295e-18,
    -1.3954464685812522e-19,
)


def igamma(a: Array, x: Array) -> Array:
    """The lower incomplete gamma function, over gamma(a): from 0 at x = 0 to 1.

    Args:
        a: A float32 or float64 array; NaN comes of what is not positive.
        x: The same dtype, of a shape that broadcasts; NaN comes of what is negative.

    Returns:
        The dtype of both, the broadcast shape.
    """
    return _incomplete(a, x, lambda p, q: p)


def igammac(a: Array, x: Array) -> Array:
    """1 - igamma(a, x), without cancellation for large x; arguments as there."""
    return _incomplete(a, x, lambda p, q: q)


def igamma_grad_a(a: Array, x: Array) -> Array:
    """The derivative of igamma(a, x) by a; arguments as there."""

    def function(a: Array, x: Array) -> Array:
        small, value, slope = _gamma_terms(a, x)
        power = np.exp(a * np.log(x) - x - lgamma(np.where(small, a + 1, a)))
        result = power * (value * (np.log(x) - digamma(np.where(small, a + 1, a))) + slope)
        result = np.where(small, result, -result)
        return np.where((x == 0) | np.isinf(x), 0.0, result)

    return _gamma_domain(a, x, function)


def random_gamma_grad(alpha: Array, sample: Array) -> Array:
    """The derivative by alpha of a gamma-distributed sample, its place in the distribution kept.

    Implicit differentiation (Figurnov, Mohamed and Mnih, 2018): minus the derivative of the distribution
    function by alpha, over the density.

    Args:
        alpha: A float32 or float64 array, positive.
        sample: The same dtype, of a shape that broadcasts, not negative.

    Returns:
        The dtype of both, the broadcast shape.
    """

    def function(a: Array, x: Array) -> Array:
        small, value, slope = _gamma_terms(a, x)
        total = value * (np.log(x) - digamma(np.where(small, a + 1, a))) + slope
        return np.where(x == 0, 0.0, np.where(small, -x / a * total, x * total))

    return _gamma_domain(alpha, sample, function)


def _gamma_domain(a: Array, x: Array, function: Callable[[Array, Array], Array]) -> Array:
    """`function` in float64 where a > 0 and x >= 0, NaN elsewhere."""
    dtype = a.dtype
    wide_a, wide_x = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(x, np.float64))
    with np.errstate(all="ignore"):
        inside = (wide_a > 0) & (wide_x >= 0)
        result = function(np.where(inside, wide_a, 1.0), np.where(inside, wide_x, 1.0))
        return np.where(inside, result, np.nan).astype(dtype)


def _incomplete(a: Array, x: Array, choose: Callable[[Array, Array], Array]) -> Array:
    def function(a: Array, x: Array) -> Array:
        small, value, _ = _gamma_terms(a, x)
        part = value * np.exp(a * np.log(x) - x - lgamma(np.where(small, a + 1, a)))
        part = np.where(x == 0, 0.0, np.where(np.isinf(x), 0.0, part))
        return choose(np.where(small, part, 1 - part), np.where(small, 1 - part, part))

    return _gamma_domain(a, x, function)


def _gamma_terms(a: Array, x: Array) -> tuple[Array, Array, Array]:
    """Where the series is used (else the fraction), its value, and the derivative of that by a.

    With w(a) = x^a exp(-x) / gamma(a): igamma is w(a + 1) times the series, igammac w(a) times the fraction.
    """
    small = (x <= 1) | (x <= a)
    value, slope = _gamma_series(a, np.where(small, x, 0.0))
    # where the fraction is not used, any x for which it ends at once
    other = _gamma_fraction(np.where(small, 1.0, a), np.where(small | np.isinf(x), 1e3, x))
    return small, np.where(small, value, other[0]), np.where(small, slope, other[1])


def _gamma_series(a: Array, x: Array) -> tuple[Array, Array]:
    """The sum of x^n / ((a + 1) ... (a + n)), and its derivative by a."""
    term, term_slope = np.ones_like(a), np.zeros_like(a)
    total, slope = np.ones_like(a), np.zeros_like(a)
    for n in range(1, _STEPS):
        factor = x / (a + n)
        term_slope = (term_slope - term / (a + n)) * factor
        term = term * factor
        total, slope = total + term, slope + term_slope
        if np.all((term <= _EPS * total) & (np.abs(term_slope) <= _EPS * np.abs(slope))):
            break
    return total, slope


def _gamma_fraction(a: Array, x: Array) -> tuple[Array, Array]:
    """1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), and its derivative by a."""
    b = x + 1 - a
    c, c_slope = np.full_like(a, 1 / _TINY), np.zeros_like(a)
    d = 1 / b
    d_slope = d * d
    value, relative = d, d_slope / d  # the derivative is kept relative to the value
    for n in range(1, _STEPS):
        numerator = -n * (n - a)
        b = b + 2
        new_d = 1 / (numerator * d + b)
        d_slope = -new_d * new_d * (n * d + numerator * d_slope - 1)
        d = new_d
        c_slope = (n - numerator * c_slope / c) / c - 1
        c = b + numerator / c
        c = np.where(c == 0, _TINY, c)
        change = c_slope / c + d_slope / d
        value, relative = value * (c * d), relative + change
        if np.all((np.abs(c * d - 1) <= _EPS) & (np.abs(change) <= _EPS * np.abs(relative))):
            break
    return value, value * relative


def betainc(a: Array, b: Array, x: Array) -> Array:
    """The regularized incomplete beta integral, from 0 at x = 0 to 1 at x = 1.

    Args:
        a: A float32 or float64 array, positive, else NaN comes of it.
        b: The same.
        x: In [0, 1], else NaN comes of it. All three broadcast.

    Returns:
        The dtype of all, the broadcast shape.
    """
    dtype = x.dtype
    a, b, x = np.broadcast_arrays(*(np.asarray(item, np.float64) for item in (a, b, x)))
    with np.errstate(all="ignore"):
        inside = (a > 0) & (b > 0) & (x > 0) & (x < 1)
        a, b, at = (np.where(inside, item, 0.5) for item in (a, b, x))
        log_power = a * np.log(at) + b * np.log1p(-at) + lgamma(a + b) - lgamma(a) - lgamma(b)
        swap = at > (a + 1) / (a + b + 2)  # the fraction ends soon only below the mean
        first, second = np.where(swap, b, a), np.where(swap, a, b)
        part = np.exp(log_power) * _beta_fraction(first, second, np.where(swap, 1 - at, at)) / first
        result = np.where(swap, 1 - part, part)
        valid = (np.asarray(a) > 0) & (np.asarray(b) > 0)
        edge = np.where((x == 0) | (x == 1), x, np.nan)
        return np.where(inside, result, np.where(valid, edge, np.nan)).astype(dtype)


def _beta_fraction(a: Array, b: Array, x: Array) -> Array:
    c = np.ones_like(a)
    d = 1 / _nonzero(1 - (a + b) * x / (a + 1))
    value = d
    for n in range(1, _STEPS):
        even = n * (b - n) * x / ((a + 2 * n - 1) * (a + 2 * n))
        odd = -(a + n) * (a + b + n) * x / ((a + 2 * n) * (a + 2 * n + 1))
        for numerator in (even, odd):
            d = 1 / _nonzero(1 + numerator * d)
            c = _nonzero(1 + numerator / c)
            value = value * (c * d)
        if np.all(np.abs(c * d - 1) <= _EPS):
            break
    return value


def _nonzero(x: Array) -> Array:
    return np.where(np.abs(x) < _TINY, _TINY, x)


def zeta(x: Array, q: Array) -> Array:
    """Hurwitz's zeta function, the sum of (q + k)^-x over k >= 0.

    Args:
        x: A float32 or float64 array; inf comes of 1 and NaN of less.
        q: The same dtype; inf comes of 0, -1, ..., NaN of other negative numbers unless x is an integer.

    Returns:
        The dtype of both, the broadcast shape.
    """
    dtype = x.dtype
    x, q = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(q, np.float64))
    with np.errstate(all="ignore"):
        pole = (q <= 0) & (q == np.floor(q))
        valid = (x > 1) & ~pole & np.isfinite(q) & ((q > 0) | (x == np.floor(x)))
        s, at = np.where(valid, x, 2.0), np.where(valid, q, 10.0)
        total, low = np.zeros_like(s), at < np.maximum(s, 10)
        while np.any(low):
            term = np.power(at, -s)
            total, at = np.where(low, total + term, total), np.where(low, at + 1, at)
            low &= (at < np.maximum(s, 10)) & ((at <= 1) | (term > 0.1 * _EPS * np.abs(total)))
        # the rest of the sum, which is nothing where the terms became small before the series holds
        power = np.power(at, -s)
        rest = power * (at / (s - 1) + 0.5)
        factor = s * power / at
        for k, coefficient in enumerate(_EULER_MACLAURIN):
            rest = rest + coefficient * factor
            factor = factor * (s + 2 * k + 1) * (s + 2 * k + 2) / (at * at)
        total = np.where(at < np.maximum(s, 10), total, total + rest)
        result = np.where(valid, total, np.nan)
        result = np.where((x > 1) & np.isposinf(q), 0.0, result)
        return np.where((x == 1) | (pole & (x > 1)), np.inf, result).astype(dtype)


def polygamma(a: Array, x: Array) -> Array:
    """The derivative of order a of digamma at x; NaN where a is no integer >= 0.

    Args:
        a: A float32 or float64 array of whole numbers.
        x: The same dtype, of a shape that broadcasts.

    Returns:
        The dtype of both, the broadcast shape.
    """
    dtype = a.dtype
    order, at = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(x, np.float64))
    with np.errstate(all="ignore"):
        valid = (order >= 0) & (order == np.floor(order))
        n = np.where(valid & (order > 0), order, 1.0)
        sign = np.where(n % 2 == 0, -1.0, 1.0)
        result = np.where(order == 0, digamma(at), sign * np.exp(lgamma(n + 1)) * zeta(n + 1, at))
        return np.where(valid, result, np.nan).astype(dtype)


def bessel_i0e(x: Array) -> Array:
    """exp(-|x|) times the modified Bessel function I0.

    Args:
        x: A floating array of any shape.

    Returns:
        The same shape and dtype.
    """
    size, near, far = _bessel_parts(x)
    with np.errstate(all="ignore"):
        result = np.where(
            size <= 8, series(_I0_SMALL, near / 4 - 1), series(_I0_LARGE, 16 / far - 1) / np.sqrt(size)
        )
    return result.astype(x.dtype)


def bessel_i1e(x: Array) -> Array:
    """exp(-|x|) times the modified Bessel function I1.

    Args:
        x: A floating array of any shape.

    Returns:
        The same shape and dtype.
    """
    size, near, far = _bessel_parts(x)
    with np.errstate(all="ignore"):
        result = np.where(
            size <= 8,
            near * series(_I1_SMALL, near / 4 - 1),
            series(_I1_LARGE, 16 / far - 1) / np.sqrt(size),
        )
    return np.copysign(result, x.astype(np.float64)).astype(x.dtype)


def _bessel_parts(x: Any) -> tuple[Array, Array, Array]:
    """|x|, and it again within [0, 8] and from 8 on."""
    size = np.abs(x.astype(np.float64))
    return size, np.minimum(size, 8), np.maximum(size, 8)
