// Types of the exported scripts, for tsc.

/** Numbers in order: an array of any kind. */
type Numbers = ArrayLike<number> & Iterable<number>;

/** Where each array of a kernel begins, and how long it is. */
type Blocks = Record<string, [number, number]>;

/** A compiled kernel: reads x, writes y, returns a status word (0: well). */
interface Kernel {
  (x: Float64Array, y: Float64Array): number;
  inputs: Blocks;
  outputs: Blocks;
}

/** A kernel with arrays of its own. */
interface BoundKernel {
  x: Float64Array;
  y: Float64Array;
  to: Blocks;
  from: Blocks;
  put(key: string, a: ArrayLike<number>, first?: number): void;
  zero(key: string): void;
  run(near?: ArrayLike<number>, first?: number): number;
  get(key: string): Float64Array;
}

/** The results of a kernel by name, and whether they can be trusted. */
interface Answer {
  ok: boolean;
  [output: string]: any;
}

/** A kernel as a function of whole arrays. */
interface KernelCall {
  kernel: BoundKernel;
  get(key: string): Float64Array;
  fill(...arrays: (Numbers | number | undefined)[]): void;
  run(...arrays: (Numbers | number | undefined)[]): number;
  all(status: number): Answer;
}

/** A kernel of a loop: views of its blocks by name, empty where it has none. */
interface LoopKernel {
  x: Record<string, Float64Array>;
  y: Record<string, Float64Array>;
  run(): number;
}

/** Records and functions that closing_loops.py and motion_loops.py describe. */
interface ClosingLoop {
  kinematics: LoopKernel;
  drives: LoopKernel;
  turns: LoopKernel;
  status: number;
  residual: number;
  steps: number;
  q: Float64Array;
  next: Float64Array;
  drive: Float64Array;
  near: Float64Array;
  scale: Float64Array;
  quaternions: Int32Array;
}
declare function newClosing(sizes: Record<string, number>, kernels: Record<string, Kernel>): ClosingLoop;
declare function unit_quaternions(q: Float64Array, places: Int32Array): void;
declare function newton_step(w: ClosingLoop, q: ArrayLike<number>, out: Float64Array): number;
declare function close_loops(w: ClosingLoop, q: Float64Array, damped: number): number;
declare function counted(w: ClosingLoop, q: ArrayLike<number>): void;
declare function drives_at(w: ClosingLoop, q: ArrayLike<number>, out: Float64Array): void;
declare function assembled(w: ClosingLoop): number;

interface MotionLoop {
  forward: LoopKernel;
  projection: LoopKernel;
  qdot: LoopKernel;
  turns: LoopKernel;
  residual: number;
  q: Float64Array;
  v: Float64Array;
  new_q: Float64Array;
  new_v: Float64Array;
  near: Float64Array;
  quaternions: Int32Array;
}
declare function newMotion(sizes: Record<string, number>, kernels: Record<string, Kernel>): MotionLoop;
interface PassingLoop {
  motion: MotionLoop;
  singular: { terms: LoopKernel; rows: Float64Array; columns: Float64Array };
}
declare function newPassing(sizes: Record<string, number>, kernels: Record<string, Kernel | undefined>): PassingLoop;
declare function stepped_through(w: PassingLoop, t: number, dt: number): number;
declare function motion_referred(w: MotionLoop): void;
declare function begun(w: MotionLoop): void;
declare function projected(w: MotionLoop): number;
declare function stepped(w: MotionLoop, t: number, dt: number): number;

interface WalkLoop {
  close: LoopKernel;
  /** The largest residual of the samples walked last. */
  open: number;
}
declare function newWalk(sizes: Record<string, number>, kernels: Record<string, Kernel>): WalkLoop;
declare function walk(
  w: WalkLoop, q: Float64Array, near: Float64Array, parameters: Float64Array, laws: Float64Array, width: number, t: Float64Array,
  rows: Float64Array, row: number, first: number, count: number, onward: number, once: number, least: number,
): number;
declare function law_between(w: WalkLoop, laws: Float64Array, width: number, k: number, to: number, share: number, h: number): void;
declare function reach(
  w: WalkLoop, q: Float64Array, near: Float64Array, from_drive: Float64Array, to_drive: Float64Array, speed: Float64Array,
  from_parameters: Float64Array, to_parameters: Float64Array, found: Float64Array, steps: number,
): boolean;
declare function orthogonalized(a: Float64Array, rows: number, columns: number, s: Float64Array): number;

interface Solver {
  kinematics: LoopKernel | null;
  scale: number[];
  status(): number;
  loop: ClosingLoop;
  hold(kernel: LoopKernel, near: ArrayLike<number>): void;
  normalize(q: Float64Array): Float64Array;
  newton(q: ArrayLike<number>, near: ArrayLike<number>, drive: ArrayLike<number>, first: number, out: Float64Array): number;
  close(q: Float64Array, near: ArrayLike<number>, drive: ArrayLike<number>, first: number): number;
  count(q: ArrayLike<number>, near: Float64Array): void;
  driveAt(q: ArrayLike<number>, near: ArrayLike<number>, out: Float64Array): Float64Array;
}

interface Assembled {
  ok: boolean;
  q: Float64Array;
  residual: number;
  steps: number;
}

/** Moment and force of all joints, drive torques and forces, multipliers. */
interface Loads {
  ok: boolean;
  u: Float64Array;
  lam: Float64Array;
  wrench: Float64Array;
}

interface MechanismNames {
  q: string[];
  v: string[];
  lam: string[];
  parameters: string[];
  drives: string[];
  joints: string[];
  points: string[];
  bodies: string[];
}

/** Names and numbers that are exported with the kernels. */
interface MechanismData {
  names: MechanismNames;
  start: { q: number[]; drive: number[]; near: number[] };
  plane: string | null;
  eyes: Record<string, Record<string, number[]>>;
  parameters: number[];
  scale: number[];
  quaternions: number[];
  /** Degrees of freedom that no constraint decides. */
  idle: number;
  /** With kernel `walk`: how far Newton may move in any case, and numbers of steps to other parameters. */
  walk: { least: number; steps: number[] };
  /** With kernel `terms`: sizes of the rows of the loops and of velocities. */
  rows: number[];
  columns: number[];
}

/** What the drives do at the samples of a cycle. */
interface DriveLaw {
  t: Float64Array;
  value: Float64Array;
  speed: Float64Array;
  acceleration: Float64Array;
  /** Statics: the drives pass through the values without speed. */
  still: boolean;
}

/** Rows of q, v, a, so many counted turns, and the determinant; overwritten by the next walk. */
interface Walked {
  reached: number;
  rows: Float64Array;
  width: number;
  turns: number;
  residual: number;
}

/** State on the loops. */
interface Projected {
  ok: boolean;
  /** Near a singular position: accelerations were taken just beside it, or are those of least constraint. */
  continued: boolean;
  q: Float64Array;
  v: Float64Array;
  residual: number;
}

/** What an exported script defines. Functions are there where the kernels they need are. */
interface Mechanism {
  names: MechanismNames;
  start: { q: Float64Array; drive: Float64Array; near: Float64Array };
  plane: string | null;
  eyes: Record<string, Record<string, number[]>>;
  kernels: Record<string, Kernel>;
  t: number;
  parameters: Float64Array;
  near: Float64Array;
  solver: Solver;
  walk(law: DriveLaw, q: Float64Array, near: Float64Array, first: number, count: number, onward: number): Walked;
  lawAt(law: DriveLaw, i: number, share: number): { value: Float64Array; speed: Float64Array; acceleration: Float64Array };
  reach(q: Float64Array, near: Float64Array, drive: Float64Array, before: Float64Array, after: Float64Array): boolean;
  set(values: Record<string, number>): void;
  bind(name: string): BoundKernel | null;
  drives(q: Numbers, v?: Numbers): Answer;
  assemble(q: Numbers, drive: Numbers | number): Assembled;
  velocities(q: Numbers, speed: Numbers | number): { ok: boolean; v: Float64Array };
  accelerations(q: Numbers, v: Numbers, acceleration?: Numbers | number): { ok: boolean; a: Float64Array };
  loads(q: Numbers, v?: Numbers, a?: Numbers): Loads;
  on(loads: Loads, pin: string, body: string): Float64Array;
  forward(q: Numbers, v: Numbers, tau?: Numbers): { ok: boolean; a: Float64Array; lam: Float64Array };
  project(q: Numbers, v: Numbers): Projected;
  step(q: Numbers, v: Numbers, dt: number, tau?: Numbers): Projected;
  singularValues(a: Float64Array, rows: number): number[];
  energy(q: Numbers, v: Numbers): { ok: boolean; kinetic: number; potential: number; total: number };
  points(q: Numbers, v?: Numbers): Answer;
  poses(q: Numbers): Answer;
}

/** A transmission at one position: motor speeds per joint speed, back, and their rates; inertia and bias at the joints. */
interface TransmissionAt {
  ok: boolean;
  joint: Float64Array;
  motor: Float64Array;
  motorSpeed: Float64Array;
  J: number[][];
  Jrate: number[][];
  K: number[][] | null;
  Krate: number[][] | null;
  M?: number[][];
  h?: number[];
}

/** What transmission_loops.py describes. */
interface MapLoop {
  J: Float64Array;
  J_rate: Float64Array;
  K: Float64Array;
  K_rate: Float64Array;
}
declare function newMap(sizes: Record<string, number>): MapLoop;
declare function inverted(w: MapLoop): boolean;

/** What the script of a transmission defines. */
interface TransmissionMap {
  motors: string[];
  joints: string[];
  start: Float64Array;
  toJoints(motor: Numbers, q?: Numbers): { ok: boolean; q: Float64Array; joint: Float64Array };
  toMotors(joint: Numbers, q?: Numbers): { ok: boolean; q: Float64Array; motor: Float64Array };
  at(q: Numbers, speed?: Numbers): TransmissionAt;
  jointTorques(map: TransmissionAt, motor: Numbers): number[];
  motorTorques(map: TransmissionAt, joint: Numbers): number[] | null;
}
