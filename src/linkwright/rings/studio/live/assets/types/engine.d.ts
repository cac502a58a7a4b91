// Types of the engine: what a page computes. SI, radians, world axes.

type Vector = ArrayLike<number>;
type Poses = { R: Float64Array; p: Float64Array };
type Kind = "angle" | "length";

/** A kernel's inner answer of Core.solve: overwritten by the next call. */
interface Closing {
  closed: boolean;
  ok: boolean;
  residual: number;
  determinant: number;
  v: Float64Array;
  a: Float64Array;
}

interface Core {
  nq: number;
  nv: number;
  nd: number;
  nn: number;
  nb: number;
  kappa: number;
  /** Kernels by name; undefined where the mechanism has no such kernel. */
  kernel: Record<string, BoundKernel>;
  kinematics: boolean;
  mechanism: Mechanism;
  none: Float64Array;
  /** Kernel with phi, J and b of the loops. */
  loops: BoundKernel | undefined;
  setTime(t: number): void;
  normalized(q: Float64Array): Float64Array;
  count(q: ArrayLike<number>, near: Float64Array): void;
  driveAt(q: ArrayLike<number>, near: ArrayLike<number>, out: Float64Array): Float64Array;
  solve(q: Float64Array, near: ArrayLike<number>, value: ArrayLike<number>, speed?: ArrayLike<number>, acceleration?: ArrayLike<number>, from?: number): Closing;
  newton(q: ArrayLike<number>, near: ArrayLike<number>, value: ArrayLike<number>, out: Float64Array): number;
  residual(q: ArrayLike<number>, near: ArrayLike<number>, value: ArrayLike<number>, from?: number): number;
  determinant(q: ArrayLike<number>, near: ArrayLike<number>): number;
  singularValues(q: ArrayLike<number>, near: ArrayLike<number>): number[];
  side(q: ArrayLike<number>, near: ArrayLike<number>): number;
  carried(q: Float64Array, near: Float64Array, value: ArrayLike<number>, before: Float64Array, after: Float64Array): boolean;
  dirty(): void;
  poses(q: ArrayLike<number>, from?: number): Poses;
  place(body: number, at: Vector, q: ArrayLike<number>): number[];
  placeInto(body: number, at: Vector, q: ArrayLike<number>, from: number, out: Float64Array, o: number): void;
  velocity(body: number, at: Vector, q: ArrayLike<number>, speeds: ArrayLike<number>): number[];
  reshape(): Float64Array | null;
  moved(body: number, at: Vector): Vector;
}

/** The motion of the drives over a cycle, as Python planned it. */
interface Law {
  drive: string;
  drives: string[];
  kinds: Kind[];
  n: number;
  t: Float64Array;
  x: Float64Array;
  q: Float64Array;
  near: Float64Array;
  value: Float64Array;
  speed: Float64Array;
  acceleration: Float64Array;
  still: boolean;
  full_turn: boolean;
  closed: boolean;
  notes: string[];
  /** Of the file's values, what Python read from the forces there. */
  singular: { value: number; geometry: string }[];
  reference: { at: number[]; u: Float64Array | null };
  over: { name: string; label: string; symbol: string; size: number };
}

/** A dead center or a singular position of a cycle. */
interface SingularPlace {
  s: number;
  value: number;
  /** What is special about the links: "B, C and D in line (stretched)"; "" where nothing is. */
  geometry: string;
  ends: boolean;
  inside: boolean;
  unbounded: boolean;
  efforts: boolean;
}

interface PinLoad {
  force: Float64Array;
  moment: Float64Array;
  /** Between samples, at the real sample number s; the curve may go beyond by error. */
  max: number;
  s: number;
  error: number;
  index: number;
  doubtful: boolean;
}

interface EffortStats {
  /** Between samples, at the real sample number s (-1: there is none); the curve may go beyond by error. */
  max: number;
  value: number;
  s: number;
  at: number;
  error: number;
  doubtful: boolean;
  rms: number;
}

/** One cycle of a design; sample i of an array of m numbers a sample begins at i m. */
interface Cycle {
  n: number;
  x: Float64Array;
  t: Float64Array;
  ok: Uint8Array;
  placed: Uint8Array;
  determinant: Float64Array;
  q: Float64Array;
  v: Float64Array;
  a: Float64Array;
  near: Float64Array;
  wrench: Float64Array;
  lam: Float64Array;
  u: Float64Array[];
  power: Float64Array;
  stats: EffortStats[];
  /** By "pin|body". */
  pins: Record<string, PinLoad>;
  residual: number;
  why: string;
  singular: SingularPlace[];
  doubtful(i: number, efforts?: boolean): boolean;
  poses(i: number): Poses;
}

interface DecodedRun {
  t: Float64Array;
  q: Float64Array;
  v: Float64Array;
  near: Float64Array;
  off: { name: string; open: Float64Array }[];
  touches: { at: Float64Array; force: Float64Array; state: Float64Array } | null;
}

interface State {
  q: Float64Array;
  v: Float64Array;
  a: Float64Array;
  near: Float64Array;
  drive: Float64Array;
  u: Float64Array | null;
  loads: Loads | null;
  ok: boolean;
  /** Real sample number of the cycle; null beside it. */
  s: number | null;
  t: number;
}

interface Action {
  name: string;
  kind: string;
  force: number[];
  moment: number[];
  at: number[];
  unique: boolean;
}

interface FreeBody {
  body: string;
  pose: { R: Float64Array; p: Float64Array };
  com: number[] | null;
  actions: Action[];
  residual: number;
  places: Float64Array | null;
}

interface Check {
  name: string;
  verdict: "passed" | "failed" | "unknown";
  text: string;
  value?: number | null;
  limit?: number | null;
  where?: string;
}

interface Swing {
  t: number;
  running: boolean;
  energy: number;
  drift: number | null;
  passages: number;
  why: string;
  start(v?: ArrayLike<number>): boolean;
  stop(): void;
  step(dt: number): { ok: boolean; energy: number; drift: number | null; t: number; done: number };
}

/** Velocities of the tree and changes of q per unit speed of each drive. */
type Tangents = { v: Float64Array; q: Float64Array }[];

interface Pulled {
  moved: boolean;
  stopped: string;
  distance: number;
}

/** A quantity over the cycle, by the name it has in Python. */
interface EngineChannel {
  name: string;
  /** Key of DATA.units. */
  kind: string;
  label: string;
  /** What can be picked to be offered it. */
  of: Picked[];
  read(c: Cycle): Float64Array;
}

interface Channels {
  list: EngineChannel[];
  get(name: string): EngineChannel | undefined;
  read(name: string, c?: Cycle | null): Float64Array;
  of(picked: Picked): EngineChannel[];
}

/** Motion of the bodies over a cycle, kept with it. */
interface Samples {
  with<T>(c: Cycle, work: () => T): T;
  once<T>(work: (c: Cycle) => T): (c: Cycle) => T;
  poses(c: Cycle): Poses;
  twists(c: Cycle): Float64Array;
  derivatives(c: Cycle): { jerk: Float64Array; body: Float64Array; rate: Float64Array; beside: Float64Array; sides: Float64Array; cams: Float64Array };
  tangent(c: Cycle): { v: Float64Array; beside: Float64Array; bodies: Float64Array };
  energies(c: Cycle): Float64Array;
}

interface Engine {
  channels: Channels;
  /** Third derivatives of the drives' laws. */
  third: Float64Array | null;
  mechanism: Mechanism;
  data: PageData;
  core: Core;
  law: Law | null;
  places: Float64Array | null;
  values: Record<string, number>;
  state: State;
  original: Cycle | null;
  cycle: Cycle | null;
  changed: boolean;
  /** Sample of the recorded run that is shown. */
  played: number | null;
  swing: Swing;
  index(body: string | number): number;
  put(q: ArrayLike<number>, near: ArrayLike<number>, v: ArrayLike<number> | null, a: ArrayLike<number> | null, more?: Partial<State>): State;
  load(): void;
  poses(): Poses;
  place(body: string | number, at: Vector): number[];
  velocity(body: string | number, at: Vector): number[];
  moved(body: string | number, at: Vector): Vector;
  go(s: number): State;
  stretch(s: number): { from: number; to: number } | null;
  set(values: Record<string, number>): { ok: boolean; why: string };
  reset(): { ok: boolean; why: string };
  warm(): void;
  leave(): void;
  play(i: number): State;
  absent(): string[];
  touched(): { at: number[]; force: number[]; sticks: boolean }[];
  drag(body: string | number, at: Vector, target: Vector): Pulled;
  nudge(drive: string | number, amount: number): { moved: boolean; stopped: string };
  trace(body: string | number, at: Vector): Float64Array;
  hodograph(pin: string, body: string, frame: string): { x: Float64Array; y: Float64Array; z: Float64Array; now: ArrayLike<number> };
  pinLoads(): { pin: string; body: string; at: number[]; moment: number[]; force: number[]; unique: boolean }[] | null;
  freeBody(body: string | number): FreeBody;
  applied(): Acting[];
  pushes(): Record<string, number>;
  singular(): { values: number[]; labels: string[] };
  multipliers(): { name: string; value: number | null }[];
  csv(): string;
  checks(): Check[];
}

/** Something that pushes a body besides joints and weight, now. */
interface Acting {
  name: string;
  kind: string; // "drive", "applied", "element", "link"
  body: number;
  moment: number[];
  force: number[];
  at: number[];
}
