"""modelDescription.xml of FMI 2.0 and 3.0, and the build description of 3.0."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from linkwright.rings.exchange.writing.fmu.variables import FmuEntry, unit_of, units_of

HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
CATEGORIES = {
    "logAll": "everything",
    "logStatusWarning": "singular positions, start values that were changed",
    "logStatusDiscard": "steps and values that were refused",
    "logStatusError": "errors",
}
ME, CS = "ModelExchange", "CoSimulation"
KINDS_OF_FMU = {"both": (ME, CS), "me": (ME,), "cs": (CS,)}


@dataclass(frozen=True)
class FmuDescription:
    """Everything a model description says."""

    name: str
    identifier: str
    about: str
    token: str
    version: str  # of Linkwright
    kinds: tuple[str, ...]
    entries: tuple[FmuEntry, ...]
    switches: int
    sources: tuple[str, ...]
    stop: float
    tolerance: float

    def xml(self, fmi: str) -> str:
        """The text for FMI "2.0" or "3.0"."""
        return self._fmi2() if fmi == "2.0" else self._fmi3()

    # ---------------------------------------------------------------- FMI 2.0

    def _fmi2(self) -> str:
        entries = [x for x in self.entries if not x.name.startswith("switch[")]
        index = {x.reference: k for k, x in enumerate(entries, start=1)}
        files = "".join(f"<File name={quoteattr(name)}/>" for name in self.sources)
        common = _attributes(
            modelIdentifier=self.identifier,
            canNotUseMemoryManagementFunctions=True,
            canGetAndSetFMUstate=True,
            canSerializeFMUstate=True,
            providesDirectionalDerivative=True,
        )
        parts = {
            ME: f"  <ModelExchange{common}>\n    <SourceFiles>{files}</SourceFiles>\n  </ModelExchange>",
            CS: f'  <CoSimulation{common} canHandleVariableCommunicationStepSize="true" canInterpolateInputs="true">\n'
            f"    <SourceFiles>{files}</SourceFiles>\n  </CoSimulation>",
        }
        head = _attributes(
            fmiVersion="2.0", modelName=self.name, guid=self.token, description=self.about or None, generationTool=self._tool,
            variableNamingConvention="flat", numberOfEventIndicators=self.switches,
        )  # fmt: skip
        lines = [
            HEAD,
            f"<fmiModelDescription{head}>",
            *(parts[k] for k in self.kinds),
            *_units(entries),
            *_categories(),
            self._experiment(),
        ]
        lines += ["  <ModelVariables>", *(self._real(x, index) for x in entries), "  </ModelVariables>", "  <ModelStructure>"]
        structure = {"Outputs": _outputs(entries), "Derivatives": _derivatives(entries), "InitialUnknowns": _unknown(entries)}
        for tag, found in structure.items():
            if found:
                unknowns = "".join(f'<Unknown index="{index[x.reference]}"/>' for x in found)
                lines.append(f"    <{tag}>{unknowns}</{tag}>")
        return "\n".join([*lines, "  </ModelStructure>", "</fmiModelDescription>", ""])

    def _real(self, x: FmuEntry, index: dict[int, int]) -> str:
        derivative = None if x.state is None else index[x.state]
        outer = _attributes(
            name=x.name, valueReference=x.reference, description=x.about or None, causality=x.causality, variability=x.variability,
            initial=x.initial,
        )  # fmt: skip
        reinit = True if x.reinit and ME in self.kinds else None
        inner = _attributes(unit=unit_of(x), start=x.start, derivative=derivative, reinit=reinit)
        return f"    <ScalarVariable{outer}><Real{inner}/></ScalarVariable>"

    # ---------------------------------------------------------------- FMI 3.0

    def _fmi3(self) -> str:
        common = _attributes(
            modelIdentifier=self.identifier, canGetAndSetFMUState=True, canSerializeFMUState=True, providesDirectionalDerivatives=True,
            providesAdjointDerivatives=True,
        )  # fmt: skip
        parts = {
            ME: f'  <ModelExchange{common} needsCompletedIntegratorStep="true"/>',
            CS: f'  <CoSimulation{common} canHandleVariableCommunicationStepSize="true"/>',
        }
        head = _attributes(
            fmiVersion="3.0", modelName=self.name, instantiationToken=self.token, description=self.about or None,
            generationTool=self._tool, variableNamingConvention="flat",
        )  # fmt: skip
        lines = [HEAD, f"<fmiModelDescription{head}>", *(parts[k] for k in self.kinds), *_units(self.entries), *_categories()]
        lines += [self._experiment(), "  <ModelVariables>", *(self._float(x) for x in self.entries), "  </ModelVariables>"]
        lines.append("  <ModelStructure>")
        switches = [x for x in self.entries if x.name.startswith("switch[")]
        structure = (
            ("Output", _outputs(self.entries)), ("ContinuousStateDerivative", _derivatives(self.entries)),
            ("InitialUnknown", _unknown(self.entries)), ("EventIndicator", switches),
        )  # fmt: skip
        lines += [f'    <{tag} valueReference="{x.reference}"/>' for tag, found in structure for x in found]
        return "\n".join([*lines, "  </ModelStructure>", "</fmiModelDescription>", ""])

    def _float(self, x: FmuEntry) -> str:
        reinit = True if x.reinit and ME in self.kinds else None
        every = _attributes(
            name=x.name, valueReference=x.reference, description=x.about or None, causality=x.causality, variability=x.variability,
            initial=x.initial, unit=unit_of(x), start=x.start, derivative=x.state, reinit=reinit,
        )  # fmt: skip
        return f"    <Float64{every}/>"

    def build(self) -> str:
        """sources/buildDescription.xml of FMI 3.0."""
        files = "".join(f"      <SourceFile name={quoteattr(name)}/>\n" for name in self.sources)
        return (
            f'{HEAD}\n<fmiBuildDescription fmiVersion="3.0">\n  <BuildConfiguration modelIdentifier={quoteattr(self.identifier)}>\n'
            f'    <SourceFileSet language="C99">\n{files}    </SourceFileSet>\n  </BuildConfiguration>\n</fmiBuildDescription>\n'
        )

    @property
    def _tool(self) -> str:
        return f"Linkwright {self.version}"

    def _experiment(self) -> str:
        return f'  <DefaultExperiment startTime="0" stopTime="{self.stop!r}" tolerance="{self.tolerance!r}" stepSize="0.001"/>'


def _attributes(**values: object) -> str:
    """XML attributes of everything that is not None."""
    texts = {
        k: str(v).lower() if isinstance(v, bool) else repr(v) if isinstance(v, float) else str(v)
        for k, v in values.items()
        if v is not None
    }
    return "".join(f" {k}={quoteattr(v)}" for k, v in texts.items())


def _units(entries: Iterable[FmuEntry]) -> list[str]:
    found = units_of(entries)
    if not found:
        return []
    lines = [f"    <Unit name={quoteattr(symbol)}><BaseUnit{_attributes(**powers)}/></Unit>" for symbol, powers in found.items()]
    return ["  <UnitDefinitions>", *lines, "  </UnitDefinitions>"]


def _categories() -> list[str]:
    lines = [f"    <Category{_attributes(name=name, description=about)}/>" for name, about in CATEGORIES.items()]
    return ["  <LogCategories>", *lines, "  </LogCategories>"]


def _outputs(entries: Sequence[FmuEntry]) -> list[FmuEntry]:
    return [x for x in entries if x.causality == "output"]


def _derivatives(entries: Sequence[FmuEntry]) -> list[FmuEntry]:
    return [x for x in entries if x.state is not None]


def _unknown(entries: Sequence[FmuEntry]) -> list[FmuEntry]:
    """Outputs, states and derivatives that the start decides."""
    states = {x.state for x in entries if x.state is not None}
    known = [x for x in entries if x.causality == "output" or x.state is not None or x.reference in states]
    return [x for x in known if x.initial in ("approx", "calculated")]
