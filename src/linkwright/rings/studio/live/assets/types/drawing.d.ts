// Types of the drawing.

/** What can be pointed at: a pin, a marked point or a body. */
interface Thing {
  kind: string;
  name: string;
  body: string;
  at: number[];
  moves: boolean;
  x: number;
  y: number;
  place: number[];
  through: number[];
}

/** What the drawing shows in one frame. */
interface Frame {
  poses: Poses;
  selected: { kind: string; name: string; body?: string } | null;
  places: Float64Array | null;
  label: string;
  [part: string]: any;
}

/** A drawing that is built: its layers, and functions that move what is on them. */
interface Sheet {
  DATA: PageData;
  scene: any;
  camera: Camera;
  look: Record<string, string>;
  layers: Record<string, SVGElement>;
  size: number[];
  width: number;
  [part: string]: any;
}

/** Brings places to pixels. */
interface Camera {
  right: number[];
  up: number[];
  toward: number[];
  axes: number[][];
  azimuth: number;
  elevation: number;
  scale: number;
  x: number;
  y: number;
  pixel(p: Vector): number[];
  direction(v: Vector): number[];
  depth(p: Vector): number;
  lift(x: number, y: number, through: Vector): number[];
  window(box: { low: number[]; high: number[] }, width: number, height: number, pad: { left: number; right: number; top: number; bottom: number }): void;
  zoom(factor: number, x: number, y: number): void;
  orbit(dx: number, dy: number, about: Vector): void;
}

/** The drawing as the page uses it. */
interface View {
  camera: Camera;
  /** `again`: DATA has changed, everything is built anew. */
  draw(frame: Frame, again?: boolean): void;
  fit(poses?: Poses[] | null): void; // null: the extent of the file
  fits(poses: Poses[]): boolean; // whether they are within the window, and fill it
  svg(): string;
  png(scale: number): Promise<Blob>;
  theme(): void;
  resize(): void;
  moved(): boolean;
  screen(place: Vector): number[];
  [part: string]: any;
}

/** A pointer that is down on the drawing. */
interface Press {
  id: number;
  x: number;
  y: number;
  lastX: number;
  lastY: number;
  kind: string;
  thing: Thing | null;
  button: number;
  shift: boolean;
  held: boolean;
  far: boolean;
  place?: any;
  offset?: any;
}
