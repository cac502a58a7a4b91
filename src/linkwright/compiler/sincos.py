"""Sine and cosine as LLVM IR, for one number or for lanes of them: within 0.8 ulp up to 2^30 rad, the same bits for any lane count.

The angle is reduced by k pi/2 with pi/2 in three parts of 53 bits (Cody and Waite): with a fused multiply-add x - k P1 is
exact, the rest is carried as a second number, so that neighbors of k pi/2 lose nothing. Two minimax polynomials follow.
Angles of 2^30 rad and more, infinities and NaN take a cold branch to the C library, lane by lane. Where the processor has
no fused multiply-add the C library does everything. No fast-math flag may touch these lines: they rely on exact rounding.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

PI_2 = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)  # their sum is pi/2 to 2^-163
TWO_OVER_PI = 0.6366197723675814
FAR = 2.0**30  # from here on the C library reduces the angle
TO_INTEGER = 1.5 * 2.0**52  # adding it leaves the nearest integer in the low bits

# sin r = r + r^3 (S0 + S1 r^2 + ...), cos r = 1 - r^2/2 + r^4 (C0 + C1 r^2 + ...) for |r| <= pi/4, minimax
SINE = (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
        2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)  # fmt: skip
COSINE = (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
          -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)  # fmt: skip

SIGN = -(2**63)


def number(x: float) -> str:
    """A double as IR writes it, exact to the last bit."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


@dataclass(frozen=True)
class Lanes:
    """Names of IR types and constants for `count` numbers handled at once."""

    count: int

    @property
    def double(self) -> str:
        return "double" if self.count == 1 else f"<{self.count} x double>"

    @property
    def i64(self) -> str:
        return "i64" if self.count == 1 else f"<{self.count} x i64>"

    @property
    def i1(self) -> str:
        return "i1" if self.count == 1 else f"<{self.count} x i1>"

    @property
    def suffix(self) -> str:
        return "f64" if self.count == 1 else f"v{self.count}f64"

    def splat(self, x: float) -> str:
        return self._all("double", number(x))

    def whole(self, x: int) -> str:
        return self._all("i64", str(x))

    def _all(self, kind: str, text: str) -> str:
        return text if self.count == 1 else "<" + ", ".join([f"{kind} {text}"] * self.count) + ">"


@dataclass
class InstructionLines:
    """Instructions on lanes, each with a fresh name."""

    lanes: Lanes
    prefix: str
    out: list[str]
    made: int = field(default=0)

    def put(self, text: str) -> str:
        self.made += 1
        name = f"%{self.prefix}.{self.made}"
        self.out.append(f"  {name} = {text}")
        return name

    def two(self, op: str, a: str, b: str) -> str:
        return self.put(f"{op} {self.lanes.double} {a}, {b}")

    def whole(self, op: str, a: str, b: int | str) -> str:
        return self.put(f"{op} {self.lanes.i64} {a}, {self.lanes.whole(b) if isinstance(b, int) else b}")

    def select(self, mask: str, a: str, b: str) -> str:
        return self.put(f"select {self.lanes.i1} {mask}, {self.lanes.double} {a}, {self.lanes.double} {b}")

    def negated(self, a: str) -> str:
        return self.put(f"fneg {self.lanes.double} {a}")

    def fma(self, a: str, b: str | float, c: str | float) -> str:
        d = self.lanes.double
        b, c = (x if isinstance(x, str) else self.lanes.splat(x) for x in (b, c))
        return self.put(f"call {d} @llvm.fma.{self.lanes.suffix}({d} {a}, {d} {b}, {d} {c})")

    def polynomial(self, z: str, coefficients: Sequence[float]) -> str:
        value = self.fma(z, coefficients[-1], coefficients[-2])
        for c in reversed(coefficients[:-2]):
            value = self.fma(z, value, c)
        return value

    def bits(self, a: str) -> str:
        return self.put(f"bitcast {self.lanes.double} {a} to {self.lanes.i64}")

    def with_sign(self, a: str, sign: str) -> str:
        flipped = self.whole("xor", self.bits(a), sign)
        return self.put(f"bitcast {self.lanes.i64} {flipped} to {self.lanes.double}")


def declarations(lanes: Lanes) -> list[str]:
    d, s = lanes.double, lanes.suffix
    return [
        f"declare {d} @llvm.fma.{s}({d}, {d}, {d})",
        f"declare {d} @llvm.fabs.{s}({d})",
        "declare double @lw_sin(double) nounwind memory(none)",
        "declare double @lw_cos(double) nounwind memory(none)",
    ]


def near(out: list[str], prefix: str, lanes: Lanes, x: str) -> tuple[str, str, str]:
    """Append sine and cosine of x for |x| < 2^30; returns the names of sine, cosine and of the mask of lanes that are not."""
    w = InstructionLines(lanes, prefix, out)
    d = lanes.double
    size = w.put(f"call {d} @llvm.fabs.{lanes.suffix}({d} {x})")
    far = w.put(f"fcmp uge {d} {size}, {lanes.splat(FAR)}")
    shifted = w.fma(size, TWO_OVER_PI, TO_INTEGER)
    minus_k = w.negated(w.two("fsub", shifted, lanes.splat(TO_INTEGER)))
    r, tail = _reduced(w, size, minus_k)
    sine, cosine = _on_the_first_octants(w, r, tail)

    quadrant = w.bits(shifted)
    bit0, bit1 = (w.whole("shl", quadrant, n) for n in (63, 62))  # of k, where the sign is
    odd = w.put(f"icmp slt {lanes.i64} {bit0}, {lanes.whole(0)}")
    s = w.put(f"select {lanes.i1} {odd}, {d} {cosine}, {d} {sine}")
    c = w.put(f"select {lanes.i1} {odd}, {d} {sine}, {d} {cosine}")
    # sine changes sign with bit 1 and with the sign of x (so sin(-0) = -0), cosine where bits 0 and 1 differ
    sign_s = w.whole("and", w.whole("xor", bit1, w.bits(x)), SIGN)
    sign_c = w.whole("and", w.whole("xor", bit1, bit0), SIGN)
    return w.with_sign(s, sign_s), w.with_sign(c, sign_c), far


def _reduced(w: InstructionLines, x: str, minus_k: str) -> tuple[str, str]:
    """x - k pi/2 as a leading number and a tail."""
    r1 = w.fma(minus_k, PI_2[0], x)  # exact
    p = w.two("fmul", minus_k, w.lanes.splat(PI_2[1]))
    p_tail = w.fma(minus_k, PI_2[1], w.negated(p))  # -k P2 = p + p_tail exactly
    r = w.two("fadd", r1, p)
    # the error of that sum, exactly, in two operations: r1 is a whole multiple of 2^-53 and so of the last place of p
    error = w.two("fsub", p, w.two("fsub", r, r1))
    return r, w.two("fadd", error, w.fma(minus_k, PI_2[2], p_tail))


def _on_the_first_octants(w: InstructionLines, r: str, tail: str) -> tuple[str, str]:
    """sin and cos of r + tail, |r| <= pi/4."""
    one = w.lanes.splat(1.0)
    z = w.two("fmul", r, r)
    lead = w.fma(z, -0.5, 1.0)  # 1 - r^2/2: the derivative of sine to the accuracy the tail needs, and cosine's first terms
    cube = w.two("fmul", z, r)
    sine = w.two("fadd", r, w.fma(cube, w.polynomial(z, SINE), w.two("fmul", tail, lead)))
    lost = w.fma(z, -0.5, w.two("fsub", one, lead))  # what rounding took from the lead
    rest = w.fma(w.two("fmul", z, z), w.polynomial(z, COSINE), lost)
    cosine = w.two("fadd", lead, w.fma(w.negated(r), tail, rest))
    return sine, cosine


def far_function(lanes: Lanes) -> list[str]:
    """A cold function that puts the C library's values into the lanes whose angle is far, infinite or NaN."""
    d, s = lanes.double, lanes.suffix
    pair = f"{{ {d}, {d} }}"
    out = [f"define internal {pair} @lw_far{lanes.count}({d} %x, {d} %s, {d} %c) cold noinline nounwind {{"]
    out += [f"  %size = call {d} @llvm.fabs.{s}({d} %x)", f"  %far = fcmp uge {d} %size, {lanes.splat(FAR)}"]
    sine, cosine = library(out, "far", lanes, "%x")
    out += [
        f"  %s.all = select {lanes.i1} %far, {d} {sine}, {d} %s",
        f"  %c.all = select {lanes.i1} %far, {d} {cosine}, {d} %c",
        f"  %half = insertvalue {pair} undef, {d} %s.all, 0",
        f"  %both = insertvalue {pair} %half, {d} %c.all, 1",
        f"  ret {pair} %both",
        "}",
    ]
    return out


def library(out: list[str], prefix: str, lanes: Lanes, x: str) -> tuple[str, str]:
    """Append calls of the C library's sin and cos; returns their names."""
    return each_lane(out, f"{prefix}.s", lanes, "lw_sin", x), each_lane(out, f"{prefix}.c", lanes, "lw_cos", x)


def each_lane(out: list[str], prefix: str, lanes: Lanes, function: str, *arguments: str) -> str:
    """Append a call of a scalar function for every lane."""
    w = InstructionLines(lanes, prefix, out)
    if lanes.count == 1:
        return w.put(f"call double @{function}({', '.join(f'double {a}' for a in arguments)})")
    value = "undef"
    for k in range(lanes.count):
        entries = [w.put(f"extractelement {lanes.double} {a}, i32 {k}") for a in arguments]
        y = w.put(f"call double @{function}({', '.join(f'double {e}' for e in entries)})")
        value = w.put(f"insertelement {lanes.double} {value}, double {y}, i32 {k}")
    return value


def group(out: list[str], prefix: str, lanes: Lanes, angles: Sequence[str], label: str) -> tuple[list[tuple[str, str]], str]:
    """Append sine and cosine of several lane vectors with one branch for all of them.

    `label` is the block these lines continue; returns the names (sine, cosine) of each and the block that follows.
    """
    found = [near(out, f"{prefix}.{i}", lanes, x) for i, x in enumerate(angles)]
    d = lanes.double
    mask = found[0][2]
    for i, (_, _, far) in enumerate(found[1:]):
        out.append(f"  %{prefix}.far{i} = or {lanes.i1} {mask}, {far}")
        mask = f"%{prefix}.far{i}"
    if lanes.count > 1:
        bits = f"i{lanes.count}"
        out += [f"  %{prefix}.bits = bitcast {lanes.i1} {mask} to {bits}", f"  %{prefix}.any = icmp ne {bits} %{prefix}.bits, 0"]
        mask = f"%{prefix}.any"
    out += [f"  br i1 {mask}, label %{prefix}.go, label %{prefix}.on, !prof !0", f"{prefix}.go:"]
    pair = f"{{ {d}, {d} }}"
    for i, (x, (s, c, _)) in enumerate(zip(angles, found, strict=True)):
        out.append(f"  %{prefix}.b{i} = call {pair} @lw_far{lanes.count}({d} {x}, {d} {s}, {d} {c})")
        out += [f"  %{prefix}.b{i}.{j} = extractvalue {pair} %{prefix}.b{i}, {j}" for j in (0, 1)]
    out += [f"  br label %{prefix}.on", f"{prefix}.on:"]
    merged = []
    for i, (s, c, _) in enumerate(found):
        for j, fast in enumerate((s, c)):
            out.append(f"  %{prefix}.r{i}.{j} = phi {d} [ {fast}, %{label} ], [ %{prefix}.b{i}.{j}, %{prefix}.go ]")
        merged.append((f"%{prefix}.r{i}.0", f"%{prefix}.r{i}.1"))
    return merged, f"{prefix}.on"
