// Types of the editor: what its server answers (views/editor/answers.py), its tools and its parts. SI, radians, the plane's two axes.

interface DrawnPoint {
  id: string;
  name: string;
  at: number[];
  written: (string | null)[];
  expression: boolean[];
  bodies: string[];
  pin: boolean;
  grounded: boolean;
  loose: boolean;
  fixed: boolean;
}

interface DrawnBody {
  id: string;
  name: string;
  ground: boolean;
  points: string[];
  pins: string[];
  outline: string[][];
  shape: string;
  length: number | null;
  mass: number | null;
  section: Record<string, string> | null;
  material: string | null;
  /** Bars that the mass of a section lies on; empty where it has no section or one bar. */
  bars: string[][];
  color: string;
  loose: boolean;
  fixed: boolean;
}

interface DrawnJoint {
  id: string;
  name: string;
  type: string;
  kind: "hinge" | "slider" | "slot" | "fixed" | "other";
  first: string;
  second: string;
  at: number[] | null;
  point: string | null;
  axis: number[] | null;
  implicit: boolean;
}

interface DrawnEnd {
  body: string;
  point: string;
  at: number[];
}

interface ElementLooks {
  shape: string;
  width: number;
  dashes: number[];
  mark: string;
}

/** A number of an element, as its description says. */
interface ElementNumber {
  key: string;
  label: string;
  meaning: string;
  dimension: string;
  optional: boolean;
  preset: number[] | null;
  axes: string;
  above: number | null;
  least: number | null;
  drawn: boolean;
}

/** The same in an entry of the file: as written, in SI, and the unit of a bare number. */
interface DrawnNumber extends ElementNumber {
  text: string | string[] | null;
  value: any;
  unit: Unit;
  bare: boolean;
  shown: boolean;
}

/** A field of an element that is one of some choices. */
interface DrawnChoice {
  key: string;
  label: string;
  meaning: string;
  choices: string[];
  text: string;
}

/** `place`: "ends" or "joint"; `first`: before the forces. */
interface ElementTool {
  place: string;
  key: string;
  label: string;
  first: boolean;
}

/** A kind of elements that a model may have, and the tool that draws it. */
interface ElementKind {
  word: string;
  section: string;
  type: string;
  title: string;
  form: string;
  places: string[];
  looks: ElementLooks;
  coordinate: boolean;
  numbers: ElementNumber[];
  tool: ElementTool | null;
}

/** An entry of any section of elements. */
interface DrawnElement {
  id: string;
  name: string;
  word: string;
  section: string;
  type: string;
  title: string;
  form: string;
  coordinate: boolean;
  looks: ElementLooks;
  ends: DrawnEnd[] | null;
  on: { body: string; point: string | null; at: number[] | null } | null;
  joint: string | null;
  at: number[] | null;
  joints: string[];
  centers: (number[] | null)[];
  wheels: { radii: (number | null)[]; rack: boolean; internal: boolean } | null;
  numbers: DrawnNumber[];
  choices: DrawnChoice[];
  fixed: boolean;
}

interface DrawnDrive {
  id: string;
  joint: string;
  kind: string;
  value: number | null;
  written: string;
  at: number[] | null;
  slides: boolean;
}

/** What a file draws, also half drawn. */
interface Drawing {
  points: DrawnPoint[];
  bodies: DrawnBody[];
  joints: DrawnJoint[];
  elements: DrawnElement[];
  drives: DrawnDrive[];
  masses: any[];
  extent: { low: number[]; high: number[] } | null;
  backdrop: { file: string; at: number[]; scale: number; angle: number; opacity: number } | null;
  [section: string]: any;
}

interface EditMessage {
  level: "error" | "missing" | "note";
  code: string;
  text: string;
  where: string;
  ids: string[];
}

/** The state of the edited file. */
interface EditAnswer {
  kind: string;
  version: string;
  text: string;
  name: string;
  axes: string;
  gravity?: number[];
  units: Record<string, Unit>;
  file: { name: string; state: string; text: string };
  history: { undo: number; redo: number; undo_label: string; redo_label: string };
  selection: string[];
  stale: boolean;
  drawing: Drawing;
  kinds: ElementKind[];
  mobility: { count: number; bodies: number; joints: number; text: string; exact?: number | null } | null;
  messages: EditMessage[];
  complete: boolean;
  kernels: { id: string; values: Record<string, number> | null } | null;
  materials?: string[];
  conflict?: any;
}

/** Where the pointer is meant to be, and what lies under it. */
interface EditPlace {
  at: number[];
  kind: string;
  text: string;
  pixel: number[];
  under: { id: string | null; point: string | null; body: string | null; joint: string | null };
  point?: string;
  body: string | null;
  joint: string | null;
  shift: boolean;
  [more: string]: any;
}

/** A pointer that is down on the sheet. */
interface EditPress {
  id: number;
  pixel: number[];
  last: number[];
  kind: string;
  far: boolean;
  pan: boolean;
  right: boolean;
  panned?: boolean;
  drawn?: boolean;
  place: EditPlace;
}

interface EditTool {
  id: string;
  label: string;
  key?: string;
  hint(): string;
  field(): { label: string; hint: string } | null;
  places(): any[];
  from(): number[] | null;
  busy(): boolean;
  clear(): void;
  finish(): void;
  /** What is wrong with a typed text; "" after it was used. */
  typed(text: string, now: EditPlace | null): string;
  preview(parent: SVGElement, now: EditPlace | null): void;
  [more: string]: any;
}

/** A part of the editor that shows what it is asked to. */
interface EditPart {
  element: HTMLElement;
  update(force?: boolean): void;
  [more: string]: any;
}

interface EditSheet {
  element: SVGSVGElement;
  container: HTMLElement;
  marks: SVGElement;
  preview: SVGElement;
  behind: SVGElement;
  scale(): number;
  step(): number;
  pixel(at: number[]): number[];
  place(pixel: number[]): number[];
  [more: string]: any;
}

interface Editor {
  answer: EditAnswer;
  selection: string[];
  mode: "draw" | "move";
  snapping: boolean;
  offline: string;
  pointer: EditPlace | null;
  loadMarks: { id: string; tail: number[]; tip: number[] }[];
  jointMarks: { id: string; item: DrawnElement; pin: number[]; at: number[] }[];
  sheet: EditSheet;
  tool: EditTool;
  tools: Record<string, EditTool>;
  drawing(): Drawing;
  units(): Record<string, Unit>;
  say(text: string, kind?: string): void;
  select(ids: string[]): void;
  edit(ops: any, more?: { drag?: string; label?: string; quiet?: boolean }): Promise<any>;
  hover(place: EditPlace | null): void;
  ahead(drawing: Drawing | null): void;
  [more: string]: any;
}
