"""The angle of a point (x, y) as LLVM IR, for one pair or for lanes of them: within 0.7 ulp, the same bits for any lane count.

The smaller coordinate over the larger, beyond tan(pi/8) turned back by pi/4, leaves |r| <= tan(pi/8); the angle is k pi/4 + arctan r or
k pi/4 - arctan r with a whole k. The quotient carries its rounding error as a second number, and so does the sum. No branch, no library;
like sine and cosine these lines rely on exact rounding and a fused multiply-add.
"""

from __future__ import annotations

from linkwright.compiler.sincos import SIGN, InstructionLines, Lanes

PI_4 = (0.7853981633974483, 3.0616169978683830e-17)  # their sum is pi/4 to 2^-108
TAN_PI_8 = 0.41421356237309503
LARGEST_PLAIN, SMALLEST_PLAIN = 1e290, 1e-290  # beyond these, coordinates are scaled
DOWN, UP = 2.0**-200, 2.0**200

# arctan r = r + r^3 (A0 + A1 r^2 + ...) for |r| <= tan(pi/8): through Chebyshev's nodes, relative error 1e-18
ARCTAN = (-0.3333333333333333, 0.19999999999999804, -0.14285714285659828, 0.11111111105155441, -0.09090908753500636,
          0.07692296375025154, -0.06666424885612743, 0.058789289963916344, -0.05230454260021369, 0.04551593172142479,
          -0.03457056073451243, 0.016285755473349803)  # fmt: skip


def arctan2(out: list[str], prefix: str, lanes: Lanes, y: str, x: str) -> str:
    """Append the angle of (x, y), in (-pi, pi], with the signs of zeros and infinities that C's atan2 has; returns its name."""
    w = InstructionLines(lanes, prefix, out)
    low, high, swapped = _ordered(w, y, x)
    r, tail, turned = _quotient(w, low, high)
    z = w.two("fmul", r, r)
    rest = w.fma(w.two("fmul", r, z), w.polynomial(z, ARCTAN), w.fma(w.negated(z), tail, tail))  # tail/(1 + z), to what it needs

    behind = w.put(f"icmp slt {lanes.i64} {w.bits(x)}, {lanes.whole(0)}")
    k = w.select(turned, lanes.splat(1.0), lanes.splat(0.0))
    k = w.select(swapped, w.two("fsub", lanes.splat(2.0), k), k)
    k = w.select(behind, w.two("fsub", lanes.splat(4.0), k), k)
    mirrored = w.put(f"xor {lanes.i1} {swapped}, {behind}")
    r, rest = (w.select(mirrored, w.negated(a), a) for a in (r, rest))

    whole = w.two("fmul", k, lanes.splat(PI_4[0]))
    lost = w.fma(k, PI_4[1], w.fma(k, PI_4[0], w.negated(whole)))
    angle = w.two("fadd", whole, r)
    error = w.two("fsub", r, w.two("fsub", angle, whole))  # exact: k pi/4 is zero or larger than r
    angle = w.two("fadd", angle, w.two("fadd", error, w.two("fadd", lost, rest)))
    signed = w.with_sign(angle, w.whole("and", w.bits(y), SIGN))
    broken = w.put(f"fcmp uno {lanes.double} {x}, {y}")
    return w.select(broken, w.two("fadd", x, y), signed)


def _ordered(w: InstructionLines, y: str, x: str) -> tuple[str, str, str]:
    """The smaller and the larger of |x| and |y|, scaled into a range without overflow, and where |y| is the larger."""
    d, lanes = w.lanes.double, w.lanes
    a, b = (w.put(f"call {d} @llvm.fabs.{lanes.suffix}({d} {v})") for v in (x, y))
    swapped = w.put(f"fcmp ogt {d} {b}, {a}")
    low, high = w.select(swapped, a, b), w.select(swapped, b, a)
    one, zero, infinite = (lanes.splat(v) for v in (1.0, 0.0, float("inf")))
    endless = w.put(f"fcmp oeq {d} {high}, {infinite}")
    both = w.put(f"fcmp oeq {d} {low}, {infinite}")
    low = w.select(endless, w.select(both, one, zero), low)
    nothing = w.put(f"fcmp oeq {d} {high}, {zero}")
    high = w.select(nothing, one, w.select(endless, one, high))
    huge, tiny = (w.put(f"fcmp {how} {d} {high}, {lanes.splat(limit)}") for how, limit in (("ogt", LARGEST_PLAIN), ("olt", SMALLEST_PLAIN)))
    scale = w.select(huge, lanes.splat(DOWN), w.select(tiny, lanes.splat(UP), one))
    return w.two("fmul", low, scale), w.two("fmul", high, scale), swapped


def _quotient(w: InstructionLines, low: str, high: str) -> tuple[str, str, str]:
    """low/high, or (low - high)/(low + high) where it is beyond tan(pi/8), with its rounding error, and where it is."""
    d, lanes = w.lanes.double, w.lanes
    turned = w.put(f"fcmp ogt {d} {low}, {w.two('fmul', high, lanes.splat(TAN_PI_8))}")
    difference, total = w.two("fsub", low, high), w.two("fadd", low, high)
    difference_tail = w.two("fsub", low, w.two("fadd", difference, high))
    total_tail = w.two("fsub", low, w.two("fsub", total, high))
    zero = lanes.splat(0.0)
    n, n_tail = w.select(turned, difference, low), w.select(turned, difference_tail, zero)
    m, m_tail = w.select(turned, total, high), w.select(turned, total_tail, zero)
    inverse = w.two("fdiv", lanes.splat(1.0), m)
    first = w.two("fmul", n, inverse)
    r = w.fma(w.fma(w.negated(first), m, n), inverse, first)
    minus = w.negated(r)
    left = w.two("fadd", w.fma(minus, m, n), w.fma(minus, m_tail, n_tail))
    return r, w.two("fmul", left, inverse), turned
