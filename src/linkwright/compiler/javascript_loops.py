"""Loops on records as JavaScript: functions on objects whose arrays are Float64Arrays, and a function that makes the objects.

    text = write([walk])            function walk(w, laws, laws_width, t, ...) and const newWalk = (sizes, kernels) => ...

`newWalk({nq: 3, ..., idle: 0}, {close: kernels.walk})` takes the sizes and whole numbers by name, and kernels by path, as
`javascript.module` writes them; blocks that a kernel lacks are empty, and so are those of a kernel that is not given.
An argument of `Rows` is followed by the length of a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from linkwright.compiler.javascript import KEYWORDS, number
from linkwright.compiler.loop_text import TIGHT, Text
from linkwright.compiler.loop_tree import NUMBERS, Expression, Function, Path, Statement
from linkwright.compiler.records import CHANGING, LoopError, fields_of, is_array, is_kernel, is_record, sizes_of

HELPERS = {
    "min_of": "const min_of = (a, b) => (b < a ? b : a);",
    "max_of": "const max_of = (a, b) => (b > a ? b : a);",
    "copy": "const copy = (to, source) => { for (let k = 0; k < to.length; k++) to[k] = source[k]; };",
    "remainder": "const remainder = (a, b) => a - b * Math.floor(a / b);",
    "bound_to": """// a kernel with arrays of its own: the blocks that loops name, and a call
const bound_to = (f, inputs, outputs) => {
  const end = (blocks) => Object.keys(blocks).reduce((n, k) => Math.max(n, blocks[k][0] + blocks[k][1]), 0);
  const from = f ? f.inputs : {}, to = f ? f.outputs : {}, first = new Float64Array(end(from)), last = new Float64Array(end(to));
  const views = (names, blocks, all) => {
    const out = {};
    for (const k of names) out[k] = blocks[k] ? all.subarray(blocks[k][0], blocks[k][0] + blocks[k][1]) : new Float64Array(0);
    return out;
  };
  return { x: views(inputs, from, first), y: views(outputs, to, last), first, last, run: () => f(first, last) };
};""",
}


def write(functions: Sequence[Callable[..., Any]], records: Sequence[Any] = ()) -> str:
    """Return the functions, those they call, and `new...` of the records (of the functions' first arguments if none are named)."""
    return JavaScript(functions).module(records)


class JavaScript(Text):
    equal, different, counter = "===", "!==", "let"
    reserved = KEYWORDS

    def __init__(self, functions: Sequence[Callable[..., Any]]):
        super().__init__(functions, "")

    def module(self, records: Sequence[Any]) -> str:
        text = self.functions()
        made = list(records) or list(dict.fromkeys(k for f in self.main for _, k in f.arguments if is_record(k) and not is_kernel(k)))
        new = [self.new(r) for r in made]
        constants = [f"{name} = {self.number(value, type(value))}" for name, value in sorted(self.constants.items())]
        head = [f"const {', '.join(constants)};"] if constants else []
        helpers = [HELPERS[name.removesuffix("_whole")] for name in sorted(self.helpers)]
        return "\n".join([*head, *dict.fromkeys(helpers), "", text, *new])

    def helper(self, name: str, kind: Any) -> str:
        return super().helper(name, float if name != "remainder" else kind)

    # ------------------------------------------------------------ records

    def new(self, record: Any) -> str:
        """A function that makes objects of a record."""
        lines = [f"  {x}" for x in self.fields(record, "")]
        return "\n".join([f"const new{record.__name__} = (sizes, kernels = {{}}) => ({{", *lines, "});", ""])

    def fields(self, record: Any, path: str) -> list[str]:
        out: list[str] = []
        for field, kind in fields_of(record).items():
            key = f"{path}{field}"
            if kind is int:
                out.append(f"{field}: sizes.{field},")
            elif kind in CHANGING:
                out.append(f"{field}: 0,")
            elif is_array(kind):
                out += self.array(record, field, kind)
            elif is_kernel(kind):
                self.helpers.add("bound_to")
                sides = ", ".join(f"[{', '.join(chr(34) + b + chr(34) for b in fields_of(side))}]" for side in fields_of(kind).values())
                given = f'kernels["{key}"]' if path else f"kernels.{field}"
                out.append(f"{field}: bound_to({given}, {sides}),")
            else:
                out += [f"{field}: {{", *(f"  {x}" for x in self.fields(kind, f"{key}.")), "},"]
        return out

    def array(self, record: Any, field: str, kind: Any) -> list[str]:
        symbols = sizes_of(record, field)
        if symbols is None:
            raise LoopError(f"{record.__name__}.{field} has no sizes: write '{field}: {kind.__name__} = sized(...)'.")
        sizes = [str(s) if isinstance(s, int) else f"sizes.{s}" for s in symbols]
        made = "Float64Array" if kind.element is float else "Int32Array"
        out = [f"{field}: new {made}({' * '.join(sizes)}),"]
        return out if kind.axes == 1 else [*out, f"{field}_rows: {sizes[0]}, {field}_columns: {sizes[1]},"]

    # ------------------------------------------------------------ functions

    def whole(self, head: str, lines: list[str]) -> str:
        return "\n".join([f"{head} {{", *lines, "}"])

    def head(self, f: Function) -> str:
        names = [x for name, kind in f.arguments for x in self.arguments(self.name(name), kind)]
        return f"function {f.name}({', '.join(names)})"

    def arguments(self, name: str, kind: Any) -> list[str]:
        if kind in NUMBERS or not is_array(kind) or kind.axes == 1:
            return [name]
        return [name, f"{name}_width"] if kind.outside else [name, f"{name}_rows", f"{name}_columns"]

    def beginning(self, names: list[str]) -> list[str]:
        kinds = self.f.variables
        given = [f"{self.name(n)} = {self.number(kinds[n](), kinds[n])}" for n in names]
        return [f"let {', '.join(given)};"] if names else []

    def declaration(self, name: str) -> str:
        return f"let {self.name(name)}"

    def alias(self, name: str, path: Path) -> str:
        return f"const {self.name(name)} = {self.path(path)};"

    def path(self, path: Path) -> str:
        return ".".join([self.name(path.root), *path.names])

    field = path

    def length(self, path: Path, axis: int) -> str:
        if path.kind.axes == 1:
            return f"{self.path(path)}.length"
        return f"{self.path(self.definition(path))}_{('rows', 'columns')[axis]}"

    def argument(self, path: Path, kind: Any) -> str:
        if not is_array(kind) or kind.axes == 1:
            return self.path(path)
        if kind.outside:
            return f"{self.path(path)}, {self.name(path.root)}_width"
        return f"{self.path(path)}, {self.length(path, 0)}, {self.length(path, 1)}"

    def _s_do(self, s: Statement) -> list[str]:
        if s.parts[0].op != "copy":
            return super()._s_do(s)
        self.helpers.add("copy")
        return [f"copy({', '.join(self.path(p) for p in s.parts[0].parts)});"]

    # ------------------------------------------------------------ expressions

    def constant(self, name: str) -> str:
        return name

    def number(self, value: Any, kind: Any) -> str:
        return ("true" if value else "false") if kind is bool else number(value) if kind is float else str(value)

    def _e_word(self, e: Expression) -> str:
        return self.path(e.parts[0])

    def _e_float(self, e: Expression) -> str:
        return self.text(e.parts[0], TIGHT)

    def _e_run(self, e: Expression) -> str:
        return f"{self.path(e.parts[0])}.run()"

    def function_of(self, op: str, v: list[str], e: Expression) -> str:
        if op == "int":
            return f"Number({v[0]})" if e.parts[0].kind is bool else f"Math.trunc({v[0]})"
        return f"Math.{op}({', '.join(v)})"
