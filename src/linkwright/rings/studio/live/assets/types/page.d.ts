// Types of a page: its data, its parts, and the object LW that the scripts add to.

interface Unit {
  symbol: string;
  size: number;
}

/** An array as it travels: base64 of little-endian float64. */
interface Encoded {
  f64: string;
  shape: number[];
}

interface PageBody {
  name: string;
  ground: boolean;
  mass: number | null;
  com: number[] | null;
  driven: boolean;
  color: string;
  points: { name: string; at: number[] }[];
}

interface PagePin {
  name: string;
  type: string;
  hinge: boolean;
  at: { body: number; at: number[] };
  grounded: boolean;
  bodies: string[];
  joints: string[];
  unique: Record<string, boolean>;
}

interface PageParameter extends Unit {
  name: string;
  label: string;
  what: string;
  kind: string;
  value: number;
  low: number;
  high: number;
  positive: boolean;
  /** A parameter of the kernels that has no slider. */
  hidden?: boolean;
  was?: string;
  yaml: { path: (string | number)[]; value: unknown }[];
}

interface PageCycle {
  drive: string;
  drives: string[];
  kinds: Kind[];
  t: Encoded;
  q: Encoded;
  near: Encoded;
  value: Encoded;
  speed: Encoded;
  acceleration: Encoded;
  still: boolean;
  full_turn: boolean;
  closed: boolean;
  notes: string[];
  over: { name: string; label: string; symbol: string; size: number; values: Encoded };
  reference: { at: number[]; u: Encoded | null };
}

interface RunChannel extends Unit {
  name: string;
  dimension: string;
  values: Encoded;
}

interface PageRun {
  title: string;
  t: Encoded;
  q: Encoded;
  v: Encoded;
  near: Encoded;
  off: { name: string; open: Encoded }[];
  touches: { names: string[]; at: Encoded; force: Encoded; state: Encoded; impacts: { touch: number; t: number; lost: number }[]; largest: number } | null;
  channels: RunChannel[];
  main: string[];
  events: { t: number; text: string }[];
  passages: { t: number; text: string }[];
  checks: Check[];
}

/** A coordinate of a joint or a cylinder: an entry of q and v, or one beside the tree. */
interface PageCoordinate {
  name: string;
  pin: string;
  kind: Kind;
  q: number;
  v: number;
  beside?: number;
}

/** What channels are read with; views/live/motion_channels.py writes it. */
interface ChannelData {
  coordinates: PageCoordinate[];
  rest: string[];
  passings: { name: string; pin: string }[];
  cams: { name: string; pins: string[]; kind: string }[];
  /** Cylinders with a bore: areas, ends of the stroke, the key of the eye at the second end. */
  cylinders: { name: string; cap: number; rod: number | null; low: number | null; high: number | null; eye: string; ends: { body: number; at: number[] }[] }[];
  belts: PageBelt[];
  /** Springs and dampers between two points. */
  lines: { name: string; ends: { body: number; at: number[] }[] }[];
  first: number[];
  third: Encoded;
}

/** A belt: its spans between pulleys, parts of the same tension, and rows of lam of all parts but that which follows. */
interface PageBelt {
  name: string;
  pulleys: { body: number; at: number[]; radius: number; turn: number; pin: string }[];
  spans: number[][];
  parts: number[][];
  rows: number[];
  carried: boolean;
  pretension: number | null;
}

/** DATA of a page; views/live/data.py writes it. */
interface PageData {
  name: string;
  about: string;
  planar: boolean;
  axes: string;
  gravity: number[];
  units: Record<string, Unit>;
  bodies: PageBody[];
  pins: PagePin[];
  /** Ends of rods, springs, dampers and cylinders on bodies; `rows` of the kernel `acting`. */
  eyes: { pin: string; body: string; part: string; type: string; unique: boolean; rows: number[]; sign: number }[];
  /** Rigid stops: of an entry of q, or of the distance of two places. */
  stops: { name: string; slides: boolean; low: number | null; high: number | null; index: number; ends: { body: number; at: number[] }[] | null }[];
  points: { name: string; body: string; at: number[] }[];
  tips: string[];
  scene: any;
  drives: string[];
  kinds: Kind[];
  cycle: PageCycle | null;
  channels: ChannelData | null;
  parameters: PageParameter[];
  shape: { body: number; at: number[] }[];
  acting: { name: string; kind: string; body: number }[];
  applied: number[]; // largest force and moment of the loads over the cycle
  scale: { kappa: number; columns: number[]; rows: number[] };
  idle: number[];
  topology: any;
  model: any;
  version: string;
  run: PageRun | null;
  loads: boolean;
  swing: boolean;
  conservative: boolean;
  /** Python's checks of the cycle at the file's values, limits of elements on channels, joints whose mesh is not modeled, motors in drives. */
  checks: Check[];
  limits: { check: string; element: string; owner: string; channel: string; dimension: string; low: number | null; high: number | null; below: string; above: string; loads: boolean }[];
  meshes: { pin: string; coupling: string }[];
  motors: boolean;
  notes: string[];
  stopped: string;
  why: string;
  reload: string | null;
  designs?: any;
  /** In pages of the editor: the first answer of its server. */
  edit?: any;
}

// -------------------------------------------------------------------- plots

interface PlotAxis {
  values: ArrayLike<number> & { map: any };
  label: string;
  symbol: string;
  size: number;
  /** The place as people say it: angles of a full turn within it. */
  say?(x: number): number;
  /** The values go back and forth. */
  free?: boolean;
}

interface PlotCurve {
  name?: string;
  values: Float64Array;
  /** Places of its own. */
  x?: Float64Array;
  color?: string;
  faint?: boolean;
  /** What is wanted: no values at the cursor. */
  target?: boolean;
  dashed?: boolean;
  stats?: { max?: number; x?: number; rms?: number; error?: number; doubtful: boolean | string };
  bounded?(i: number): boolean;
  /** Not drawn where it is not bounded. */
  gaps?: boolean;
}

interface PlotSpec {
  title?: string;
  x: PlotAxis;
  y: { label: string; symbol: string; size: number; least?: number };
  curves: PlotCurve[];
  key?: string;
  marks?: { x: number; text: string; title?: string }[];
  cursor?: boolean;
  height?: number;
  stats?: boolean;
  /** The least and the greatest value are marked. */
  extremes?: boolean;
  onSeek?(x: number, sample?: number | null): void;
}

interface Plot {
  update(changes: Partial<PlotSpec>): void;
  cursor(x: number, beside?: boolean, sample?: number | null): void;
  svg(): string;
  element: HTMLElement;
}

interface Ticks {
  values: number[];
  labels: string[];
  step: number;
  exponent: number;
}

/** An extreme between samples: its place as a real sample number, and how far the curve may go beyond. */
interface CurveEnd {
  value: number;
  s: number;
  error: number;
}

interface CurveExtremes {
  low: number;
  high: number;
  sLow: number;
  sHigh: number;
  errorLow: number;
  errorHigh: number;
}

interface Scale {
  niceStep(span: number, count: number): number;
  partOfPi(value: number): string;
  ticks(low: number, high: number, count: number, symbol?: string, angular?: boolean): Ticks;
  extent(arrays: ArrayLike<number>[]): [number, number] | null;
  range(arrays: ArrayLike<number>[], least?: number): [number, number];
  stats(x: ArrayLike<number>, values: ArrayLike<number>): { max: number; x: number; s: number; index: number; error: number; rms: number } | null;
  ends(values: ArrayLike<number>): CurveEnd[];
  peak(found: CurveExtremes): CurveEnd;
  sampleAt(x: ArrayLike<number>, place: number): number;
  between(values: ArrayLike<number>, sample: number): number;
  thinned(values: ArrayLike<number>, pixels: number): number[] | null;
  path(x: ArrayLike<number>, values: ArrayLike<number>, toX: number[], toY: number[], pixels: number): string;
  spread(wanted: number[], gap: number, low: number, high: number): number[];
}

// -------------------------------------------------------------------- LW

type Attributes = Record<string, any>;
type Child = Node | string | null | undefined;

/** What the scripts of a page add to: each member is set by one of them. */
interface Linkwright {
  // base
  el(tag: string, attributes?: Attributes | null, ...children: Child[]): any;
  svgEl(tag: string, attributes?: Attributes | null, ...children: Child[]): any;
  byId(id: string): any;
  setText(element: Node, text: string): void;
  units?: Record<string, Unit>;
  number(value: number, digits?: number): string;
  fixed(value: number, reference: number, digits?: number): string;
  typed(value: number, digits?: number): string;
  unit(symbol: string): string;
  withUnit(text: string, symbol: string): string;
  prefixed(given: Unit, reference: number): Unit;
  unitOf(kind: string): Unit;
  format(value: number, kind: string, digits?: number): string;
  raised(text: string | number): string;
  parsed(text: string, given: { kind?: string } & Unit): { value?: number; problem?: string };
  sentence(text: string): string;
  counted(n: number, noun: string, plural?: string): string;
  changedYaml(data: { parameters: PageParameter[] }, values: Record<string, number>): string;
  changedParameters(data: { parameters: PageParameter[] }, values: Record<string, number>): PageParameter[];
  changedModel(data: PageData, values: Record<string, number>): { text: string; file: string };
  changeTexts(data: PageData, values: Record<string, number>): string[];
  changeName(data: PageData, values: Record<string, number>): string;
  // engine
  decode(x: Encoded): { data: Float64Array; shape: number[] };
  engine(mechanism: Mechanism, DATA: PageData): Engine;
  extremes(x: ArrayLike<number>, s?: ArrayLike<number>): CurveExtremes | null;
  magnitudes(vectors: Float64Array, t?: ArrayLike<number>): { values: Float64Array; max: number; s: number; error: number };
  samplingText(value: number, error: number, text: (amount: number) => string): string;
  engineCore(mechanism: Mechanism, DATA: PageData): Core;
  walkedPositions(core: Core, law: Law): void;
  engineCycle(core: Core, law: Law, DATA: PageData, original: Cycle | null, file?: Float64Array, follow?: boolean): Cycle;
  engineSingular(core: Core, law: Law, c: Cycle, DATA: PageData, known: Law["singular"]): Cycle;
  engineHand(e: Engine): void;
  engineSwing(e: Engine): void;
  engineTell(e: Engine): void;
  engineChecks(e: Engine): void;
  eyeLoads(core: Core, law: Law, c: Cycle, DATA: PageData): void;
  engineStops(core: Core, DATA: PageData): (q: ArrayLike<number>, before: ArrayLike<number>) => string;
  engineSamples(e: Engine): Samples;
  engineChannels(e: Engine): void;
  engineLoadChannels(
    e: Engine,
    add: (name: string, kind: string, label: string, of: Picked[], read: (c: Cycle) => Float64Array) => void,
    moving: (c: Cycle, read: (i: number) => number) => Float64Array,
  ): void;
  engineMachineChannels(
    e: Engine,
    add: (name: string, kind: string, label: string, of: Picked[], read: (c: Cycle) => Float64Array) => void,
    moving: (c: Cycle, read: (i: number) => number) => Float64Array,
  ): void;
  singularPlace(law: Law, DATA: PageData, x: { value: number }): string;
  csvCell(text: string): string;
  // plots
  scale: Scale;
  plot(container: HTMLElement, spec: PlotSpec): Plot;
  placeTicks(axis: PlotAxis, low: number, high: number, wide: number): Ticks;
  placeNumber(axis: PlotAxis, x: number, digits?: number): string;
  plotSeeking(svg: SVGSVGElement, plot: { get(): any; seek(x: number, sample?: number | null): void }): void;
  plotStep(key: string, values: ArrayLike<number>, at: number): number | null;
  standaloneSvg(svg: SVGSVGElement, lines: string[], names?: [string, Element][]): string;
  // panels
  channelList(items: ChosenItem[], options: { most: number; toggle(name: string): void; title?: string }): { element: HTMLElement; show(names: string[]): void };
  matchingChannels(names: string[], query: string): string[];
  table(text: string): { names: string[]; units: string[]; columns: number[][] };
  targets(text: string, file: string, app: App, chosen: string): TargetCurve[];
  deviation(target: TargetCurve, values: Float64Array): { max: number; s: number; rms: number; count: number };
  monotone(values: ArrayLike<number>): boolean;
  motionCsv(app: App, chosen: string[], targets: TargetCurve[]): string;
  motionPanel(container: HTMLElement, pinned: HTMLElement, app: App): any;
  drivePanel(container: HTMLElement, app: App): { update(): void };
  // drawing, player, shell, study
  draw: any;
  [part: string]: any;
}

declare var LW: Linkwright;
declare var DATA: PageData;
declare var mechanism: Mechanism;
/** three.js, in pages of spatial mechanisms. */
declare var THREE: any;

// -------------------------------------------------------------------- the page of a study

interface StudyColumnData {
  name: string;
  symbol: string;
  values: (number | null)[];
  of?: number;
}

/** STUDY of the page of a study; views/study_page.py writes it. */
interface StudyData {
  name: string;
  plan: string;
  total: number;
  done: number;
  rows: number[];
  axes: StudyColumnData[];
  variables: StudyColumnData[];
  measures: StudyColumnData[];
  reasons: string[];
  failed: Record<string, number>;
  /** Designs with unknown checks, and checks that no design has; not of a workspace. */
  unknown?: Record<string, number>;
  notChecked?: string[];
  ramp: string[];
  /** Of the workspace of a robot; workspace_page.py writes it. */
  workspace?: { curves: { kind: string; at: number[]; points: number[][] }[]; notes: string[] };
}

declare var STUDY: StudyData;

// -------------------------------------------------------------------- player and application

/** Times of samples, looked up both ways with real sample numbers. */
interface Track {
  n: number;
  first: number;
  duration: number;
  loop: boolean;
  last: number;
  time(s: number): number;
  sample(t: number): number;
}

type Mode = "turn" | "drag" | "swing" | "run";

interface Player {
  mode: Mode;
  playing: boolean;
  s: number;
  speed: number;
  swing: { energy: number; drift: number | null } | null;
  tracks: { turn: Track | null; run: Track | null };
  /** Poses to draw instead of the engine's. */
  blend: Poses | null;
  track(): Track | null;
  can(mode: Mode): boolean;
  pace(): number;
  paceText(): string;
  moving(): boolean;
  seek(s: number): void;
  advance(seconds: number): void;
  [part: string]: any;
}

interface Picked {
  kind: "pin" | "body" | "point";
  name: string;
  body?: string;
}

/** The page's main program; tests find it as LW.app. */
interface App {
  mechanism: Mechanism;
  DATA: PageData;
  /** Aborted when the page starts again with another mechanism. */
  ending: AbortSignal;
  engine: Engine;
  player: Player;
  view: View;
  picked: Picked | null;
  axes: string;
  traces: Map<string, any>;
  values: Record<string, number>;
  state: { frames: number; tab: string; s: number };
  [part: string]: any;
}

// -------------------------------------------------------------------- curves of the cycle

interface ChosenItem {
  name: string;
  label?: string;
}

/** A curve that is wanted, from a file. */
interface TargetCurve {
  channel: string;
  /** Real sample numbers, rising. */
  s: Float64Array;
  values: Float64Array;
  file: string;
  /** Rows that are not used. */
  left: number;
}

interface MotionPlot {
  plot: Plot;
  node: HTMLElement;
  pin: HTMLElement;
  deviation: HTMLElement;
}
