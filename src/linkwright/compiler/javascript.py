"""A flat program as JavaScript: a function on packed arrays that runs in any browser since ES2015 and in node, for pages that compute.

    name(x, y)

reads the inputs from x, writes the results to y (Float64Arrays) and returns a status word: 0, or a sum of 1 (an output is
not a finite number) and 2 (an output `margin` is not positive: the equations are singular there). The text is made short, as
it travels inside pages: names of one or two letters, expressions nested as far as values are used once.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from itertools import count

from linkwright.compiler.program import Block, Op, Program
from linkwright.compiler.statements import FunctionPart, StatementPlan, Writer, plan
from linkwright.errors import UsageError

LONGEST_PART = 2000  # operations of one function; V8 leaves more than 60 KB of bytecode, some 5000 operations, unoptimized: 30 times slower
LONGEST_EXPRESSION = 60  # nesting costs nothing at run time and saves names

_FUNCTIONS: dict[int, str] = {
    Op.SQRT: "sqrt", Op.ABS: "abs", Op.SIN: "sin", Op.COS: "cos", Op.EXP: "exp", Op.LOG: "log", Op.TANH: "tanh",
    Op.ATAN2: "atan2", Op.POW: "pow", Op.MIN: "min", Op.MAX: "max", Op.ROUND: "rint",
}  # fmt: skip
_RINT = "rint=x=>{const r=round(x);return r-x===.5&&r%2?r-1:r}"  # ties to even; Math.round rounds them up
KEYWORDS = frozenset(
    re.findall(
        r"\S+",
        """as do if in is of abstract arguments await boolean break byte case catch char class const continue debugger default delete
        double else enum eval export extends false final finally float for function goto implements import instanceof int interface
        let long native new null package private protected public return short static super switch synchronized this throw throws
        transient true try typeof var void volatile while with yield Math Infinity NaN undefined Float64Array module""",
    )
)
_RESERVED = KEYWORDS | frozenset(re.findall(r"\w+", "x y w round rint sqrt abs sin cos exp log tanh atan2 pow min max"))
_ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def short(source: str) -> str:
    """Return a script without comments (types in JSDoc are comments) and indentation; a string in it must not contain " //" or "/**"."""
    bare = re.sub(r"/\*\*.*?\*/ ?", "", source, flags=re.DOTALL)
    lines = (re.sub(r"(^|\s)//.*$", "", line).strip() for line in bare.splitlines())
    return "".join(f"{line}\n" for line in lines if line)


def squeezed(source: str) -> str:
    """Return what `javascript_loops` has written without comments, line ends and spaces that mean nothing; no string in it has a space."""
    text = re.sub(r"([;{},])\n", r"\1", short(source))
    text = re.sub(r" ?([=<>*/?:&|!(){};,]) ?", r"\1", text)
    return re.sub(r"(?<![+-]) ?([+-]) ?(?![+-])", r"\1", text)  # a - -b needs its space


def write(program: Program, name: str) -> str:
    """The source of `name(x, y)`, complete in itself."""
    _check(name)
    head = _prelude([program])
    inner, cut = _functions(program, name)
    description = f"// {_description(program, name)}\n"
    if len(cut.parts) == 1:
        return description + inner.replace("{", '{"use strict";' + head, 1)
    return f'{description}const {name}=(()=>{{"use strict";{head}\n{inner}return {name}}})();\n'


def module(programs: Mapping[str, Program], name: str = "kernels") -> str:
    """One script that defines the object `name` with all functions; in node it is also what require() returns.

    Each function carries its layout: name.forward.inputs.q is [first place in x, length], name.forward.outputs likewise.
    """
    _check(name)
    for key in programs:
        _check(key)
    lines = [f"// {_description(p, key)}\n" for key, p in programs.items()]
    lines.append(f'var {name}=(()=>{{"use strict";{_prelude(list(programs.values()))}\n')
    for key, program in programs.items():
        inner, cut = _functions(program, key)
        lines.append(inner if len(cut.parts) == 1 else f"const {key}=(()=>{{{inner}return {key}}})();\n")
        lines.append(f"{key}.inputs={_layout(program.inputs)};{key}.outputs={_layout(program.outputs)};\n")
    lines.append(f"return{{{','.join(programs)}}}}})();\n")
    lines.append(f'if(typeof module==="object"&&module.exports)module.exports={name};\n')
    return "".join(lines)


def number(value: float) -> str:
    """The shortest literal that reads back as exactly this number."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    text = repr(float(value)).removesuffix(".0").replace("e+", "e").replace("e-0", "e-")
    return re.sub(r"^(-?)0\.", r"\1.", text)


def _check(name: str) -> None:
    if not re.fullmatch(r"[A-Za-z_$][\w$]*", name, re.ASCII) or name in _RESERVED:
        raise UsageError(
            f"{name!r} cannot be the name of a JavaScript function: take letters, digits and _, and no JavaScript keyword.", name=name
        )


def _description(program: Program, name: str) -> str:
    """One line that says where everything is."""
    sides = [f"{array}: {', '.join(_extent(b) for b in blocks)}" for array, blocks in (("x", program.inputs), ("y", program.outputs))]
    return re.sub(r"[\r\n\u2028\u2029]", " ", f"{name}(x, y), {program.operations} operations. {'; '.join(sides)}").replace("<", "< ")


def _extent(block: Block) -> str:
    shape = f" ({' x '.join(map(str, block.shape))})" if len(block.shape) > 1 else ""
    last = block.start + block.size - 1
    return f"{block.name} {block.start if block.size == 1 else f'{block.start}...{last}' if block.size else '-'}{shape}"


def _layout(blocks: tuple[Block, ...]) -> str:
    return json.dumps({b.name: [b.start, b.size] for b in blocks}, separators=(",", ":")).replace("<", "\\u003c")


def _prelude(programs: list[Program]) -> str:
    """Short names for what the programs use of Math."""
    used = {op[0] for program in programs for op in program.ops}
    names = [text for op, text in _FUNCTIONS.items() if op in used and op != Op.ROUND]
    names += ["round"] if Op.ROUND in used else []
    text = f"const{{{','.join(names)}}}=Math" if names else ""
    if Op.ROUND in used:
        text += f",{_RINT}"
    return f"{text};" if text else ""


def _functions(program: Program, name: str) -> tuple[str, StatementPlan]:
    """The function, or for a long program its parts and the function that calls them."""
    cut = plan(program, LONGEST_PART, LONGEST_EXPRESSION)
    status = _status(program)
    if len(cut.parts) == 1:
        return f"function {name}(x,y){{{_body(program, cut.parts[0], cut)}{status}}}\n", cut
    part_names = [f"{name}_{n}" for n in range(1, len(cut.parts) + 1)]
    text = f"const w=new Float64Array({cut.work});\n" if cut.work else ""
    for key, part in zip(part_names, cut.parts, strict=True):
        text += f"function {key}(x,y){{{_body(program, part, cut)}}}\n"
    return f"{text}function {name}(x,y){{{''.join(f'{key}(x,y);' for key in part_names)}{status}}}\n", cut


def _body(program: Program, part: FunctionPart, cut: StatementPlan) -> str:
    fresh = _names()
    names: dict[int, str] = {k: f"w[{cut.place[k]}]" for k in part.direct}

    def name(k: int) -> str:
        op, a, _, _ = program.ops[k]
        return f"x[{a}]" if op == Op.INPUT else names[k]

    writer = Writer(program, cut.inside, number, name, _FUNCTIONS, "{}", gap="")
    constants = []
    for k in part.loads:
        names[k] = next(fresh)
        constants.append(f"{names[k]}=w[{cut.place[k]}]")
    for k in part.named:
        text = writer.expression(k)
        names[k] = next(fresh)
        constants.append(f"{names[k]}={text}")
    text = "const " + ",\n".join(constants) + ";\n" if constants else ""
    text += "".join(f"w[{cut.place[k]}]={names[k]};" for k in part.stores)
    return text + "".join(f"y[{place}]={writer.operand(value)};" for place, value in part.results)


def _names() -> Iterator[str]:
    """a, b, ... Z, aa, ab, ...: all that are not keywords of the language."""
    for n in count():
        text, rest = "", n
        while rest >= 0:
            text = _ALPHABET[rest % 52] + text
            rest = rest // 52 - 1
        if text not in _RESERVED:
            yield text


def _status(program: Program) -> str:
    text = "let $=0;"  # no name of a value
    if program.n_out:
        text += f"for(let i=0;i<{program.n_out};i++)if(y[i]-y[i]!==0)$=1;"
    for b in program.outputs:
        if b.name == "margin" and b.size:
            text += f"for(let i={b.start};i<{b.start + b.size};i++)if(!(y[i]>0))$|=2;"
    return f"{text}return $"
