"""Models of an SDF file as scopes of names: links, joints, frames and models inside models, found by names such as a::b."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from linkwright.api import ModelError, nearest
from linkwright.rings.exchange.reading.safe_xml import XmlElement

SEPARATOR = "::"
MODEL, WORLD, ROOT = "__model__", "world", "__root__"
NAMED = ("link", "joint", "frame", "model")


@dataclass(eq=False)
class Scope:
    """A model, or the world (whose element is <world>, or <sdf> without one)."""

    path: str  # "arm::hand"; empty for the world
    element: XmlElement
    parent: Scope | None = None
    named: dict[str, XmlElement] = field(default_factory=dict)
    models: dict[str, Scope] = field(default_factory=dict)

    @property
    def is_world(self) -> bool:
        return self.parent is None

    @property
    def top(self) -> Scope:
        """The world around everything."""
        return self if self.parent is None else self.parent.top

    def full(self, name: str) -> str:
        """A name in this scope with all models around it."""
        return f"{self.path}{SEPARATOR}{name}" if self.path else name

    def inner(self) -> Iterator[Scope]:
        """This scope and all inside it."""
        yield self
        for x in self.models.values():
            yield from x.inner()

    def all(self, tag: str) -> Iterator[tuple[str, XmlElement]]:
        """Things of a kind in this scope alone, by name."""
        yield from ((name, x) for name, x in self.named.items() if x.tag == tag)

    @property
    def static(self) -> bool:
        """True if the model, or one around it, does not move."""
        if self.parent is None:
            return False
        own = self.element.one("static")
        return self.parent.static or (own is not None and own.flag(own.text, "static"))


@dataclass(frozen=True)
class FrameRef:
    """A frame: a thing of a scope by its name, or the frame of the scope itself (an empty name)."""

    scope: Scope
    name: str = ""

    @property
    def element(self) -> XmlElement:
        return self.scope.named[self.name] if self.name else self.scope.element

    @property
    def is_world(self) -> bool:
        return not self.name and self.scope.is_world

    def __hash__(self) -> int:
        return hash((id(self.scope), self.name))


def scope_of(element: XmlElement, path: str = "", parent: Scope | None = None) -> Scope:
    """A world or model with everything named in it."""
    out = Scope(path, element, parent)
    for x in element:
        if x.tag not in NAMED or (parent is None and x.tag == "link"):
            continue
        name = x.attribute("name")
        if name in out.named:
            raise x.error("a second thing of this name in the same model. Names of links, joints, frames and models are unique.")
        if SEPARATOR in name and parent is None and x.tag == "model":
            raise x.error(f"a name may not hold '{SEPARATOR}'.", name=SEPARATOR)
        out.named[name] = x
        if x.tag == "model":
            out.models[name] = scope_of(x, out.full(name), out)
    return out


def find(scope: Scope, name: str, element: XmlElement, what: str) -> FrameRef:
    """The frame of a name, looked up in a scope: world, __model__, a link, joint, frame or model, or a::b in models inside."""
    if name == MODEL:
        return FrameRef(scope)
    if name in (WORLD, ROOT) and name not in scope.named:
        return FrameRef(scope.top)
    at, rest = scope, name
    if name in scope.named:  # older files have names with colons
        return FrameRef(scope.models[name]) if name in scope.models else FrameRef(scope, name)
    while SEPARATOR in rest:
        head, _, rest = rest.partition(SEPARATOR)
        if head not in at.models:
            raise ModelError(f"{element.shown}: {what}: there is no model '{head}'.", element.where, nearest(head, at.models, "Models"))
        at = at.models[head]
    if rest == MODEL:
        return FrameRef(at)
    if rest in at.models:
        return FrameRef(at.models[rest])
    if rest not in at.named:
        raise ModelError(f"{element.shown}: {what}: there is no frame '{name}'.", element.where, nearest(rest, at.named, "Names"))
    return FrameRef(at, rest)
