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
  colour: string;
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

/** A rod, cylinder, spring or damper. */
interface DrawnLine {
  id: string;
  name: string;
  ends: DrawnEnd[] | null;
  at?: number[] | null;
  length?: number;
  kind?: string;
  written?: any;
}

interface DrawnGear {
  id: string;
  name: string;
  joints: string[];
  centres: (number[] | null)[];
  radii: number[];
  internal: boolean;
}

interface DrawnLoad {
  id: string;
  name: string;
  body: string;
  point: string | null;
  at: number[] | null;
  force: number[] | null;
  moment: number | null;
  written: any;
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
  rods: DrawnLine[];
  cylinders: DrawnLine[];
  springs: DrawnLine[];
  dampers: DrawnLine[];
  gears: DrawnGear[];
  loads: DrawnLoad[];
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
