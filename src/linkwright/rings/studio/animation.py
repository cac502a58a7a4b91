"""Animated pictures of one cycle or of a run: GIF by pillow, MP4 where ffmpeg is installed.

animate(m, "wiper.gif")                       one cycle that repeats without a jump; a swing runs there and back
play(run, "swing.mp4", speed=0.5)             a run in its own time, with the time written beside it

The window is the same in every frame, points leave their paths, and pins may show their loads as arrows. One length of arrow is one
size of force over the whole motion.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.api import LinkwrightError, System, Trajectory, UsageError, array, counted, files, mechanism_of
from linkwright.rings.studio import style
from linkwright.rings.studio.outline_geometry import ScenePoint
from linkwright.rings.studio.picture import Canvas, turned
from linkwright.rings.studio.plots.efforts import eyes, needs_loads
from linkwright.rings.studio.plots.subjects import system_of
from linkwright.rings.studio.scene import Stage, off_at
from linkwright.rings.studio.scene_contacts import TouchForces
from linkwright.rings.studio.spatial_drawing import WIDE, Spatial, on_paper
from linkwright.rings.studio.style import PALETTE, mixed

LONGEST_ARROW = 64.0  # points: the largest load of the motion
EDGE = 4.0  # points that stay free at the edge of a picture


class LoadArrows:
    """Loads of pins on one of their bodies at every sample, drawn over figures of a canvas."""

    def __init__(self, c: Trajectory, canvas: Canvas):
        needs_loads(c)
        self.c, self.canvas = c, canvas
        self.longest: float | None = None  # points of the largest load, once a picture is there
        spots = self._spots()
        self.forces: list[tuple[ScenePoint, np.ndarray]] = []
        for pin, body in eyes(c):
            if pin in spots:
                force = c.load(pin, body).force
                self.forces.append((spots[pin], np.column_stack([force, np.zeros((len(force), 3 - force.shape[1]))])))
        self.largest = max((float(np.linalg.norm(f, axis=1).max()) for _, f in self.forces), default=0.0)

    def _length(self, figure: Any, axes: Any) -> float:
        """Points of the largest load: the longest arrow, or less where one of the motion would leave the picture (in the plane)."""
        looks = 60  # samples for which there must be room
        if self.longest is None:
            size = 72.0 * np.array(figure.get_size_inches(), dtype=float)
            self.longest = LONGEST_ARROW
            for sample in range(0, len(self.c), max(1, len(self.c) // looks)) if self.canvas.scene.description.planar else ():
                stage = Stage(self.c.skel, self.c._instants[sample])
                for spot, force in self.forces:
                    at = axes.transData.transform(stage.spot(spot)[:2]) * 72.0 / figure.dpi
                    along = force[sample, :2] / self.largest
                    free = np.where(along > 0.0, size - EDGE - at, at - EDGE)
                    needed = np.abs(along) * self.longest > free
                    if np.any(needed) and np.all(free > 0.0):
                        self.longest = float(np.min(free[needed] / np.abs(along[needed])))
        return self.longest

    def _spots(self) -> dict[str, ScenePoint]:
        skel = self.c.skel
        return {j.pin or j.name: ScenePoint(skel.node(j.second), array(j.frame_second.at)) for j in skel.tree.description.joints}

    def draw(self, figure: Any, sample: int) -> None:
        """Arrows of one sample over its figure."""
        if not self.largest > 0.0:
            return
        width, height = (72.0 * float(x) for x in figure.get_size_inches())
        picture = figure.axes[0]
        over = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        over.set_axis_off()
        over.set_xlim(0.0, width)
        over.set_ylim(0.0, height)
        stage = Stage(self.c.skel, self.c._instants[sample])
        color = mixed(PALETTE[4], self.canvas.look.ink, 0.15)
        least = 3.0  # points below which an arrow is only a spot
        for spot, force in self.forces:
            at, along = self._seen(figure, picture, stage.spot(spot), force[sample])
            if np.linalg.norm(along) < least:
                continue
            arrow = {"arrowstyle": "-|>", "color": color, "lw": 1.6, "mutation_scale": 9.0, "shrinkA": 0.0, "shrinkB": 0.0}
            over.annotate("", xy=tuple(at + along), xytext=tuple(at), arrowprops=arrow, annotation_clip=False)

    def _seen(self, figure: Any, axes: Any, at: np.ndarray, force: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Place and arrow on the page, in points."""
        if self.canvas.scene.description.planar:
            page = axes.transData.transform(at[:2]) * 72.0 / figure.dpi
            return page, self._length(figure, axes) * force[:2] / self.largest
        spatial = Spatial(self.canvas.scene, self.canvas.look)
        size = float(np.ptp(self.canvas.points, axis=0).max())
        tip = at + 0.05 * size * force / (float(np.linalg.norm(force)) or 1.0)  # short: perspective hardly bends it
        a, b = on_paper(figure, axes, spatial.seen(np.array([at, tip])))
        flat = on_paper(figure, axes, spatial.seen(np.array([at, at + 0.05 * size * np.eye(3)[2]])))
        scale = LONGEST_ARROW / max(float(np.linalg.norm(flat[1] - flat[0])), 1e-9)
        return a, (b - a) * scale * float(np.linalg.norm(force)) / self.largest


SHORTEST_CYCLE, LONGEST_CYCLE = 2.0, 6.0  # seconds of one cycle on the screen, unless asked otherwise
MOST_FRAMES = 600  # of a cycle
MOST_PLAYED = 3000  # of a run
MOST_PIXELS = 4096  # of either side
RESOLUTIONS = {"720p": (1280, 720), "1080p": (1920, 1080), "1440p": (2560, 1440), "2160p": (3840, 2160)}
HEIGHT = 5.4  # inches of a figure with a given resolution
SHADES = 256  # in a GIF of shaded surfaces
COLORS = 64  # in a GIF: flat drawings need no more, and files stay small
Progress = Callable[[int, int], Any]  # frames done, frames in all


def check_program(path: str | os.PathLike[str]) -> None:
    """MP4 needs ffmpeg; better known before a long computation than after."""
    path = Path(path)
    if path.suffix.lower() == ".mp4" and shutil.which("ffmpeg") is None:
        raise UsageError(
            f"cannot write '{path.name}': MP4 needs the program ffmpeg, which is not installed. "
            "Install it (Debian: apt-get install ffmpeg), or write a .gif.",
            name=path.name,
        )


def animate(
    mechanism: Any,
    path: str | os.PathLike[str],
    *,
    seconds: float | None = None,
    fps: int = 25,
    turn: Trajectory | None = None,
    trace: Sequence[str] | None = None,
    loads: bool = False,
    width: int | None = None,
    resolution: Any = None,
    dark: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Write one cycle of a Mechanism or System as .gif (or .mp4), and return the path.

    `seconds` is the duration of a cycle on the screen (default: the real one, limited to 2 to 6 s). `turn` is a cycle
    already at hand; it is shown at its own samples. `loads`: arrows for the loads of pins. `resolution`: "720p", "1080p" (default of
    .mp4), "1440p", "2160p", "1280x720" or (width, height) in pixels; or `width` alone (default of .gif: 560) and the height that suits.
    """
    path = files.checked(path, files.ANIMATIONS)
    check_program(path)
    if not (fps > 0 and (seconds is None or seconds > 0)):
        raise UsageError("an animation needs fps and seconds above 0.", name="fps")
    frame = frame_size(path, width, resolution)
    system: System = getattr(mechanism, "system", mechanism)
    given = turn is not None
    turn, frames = _samples(system, turn, seconds, fps)
    smooth = 150  # samples of a cycle whose paths look smooth at any resolution
    paths = turn if given or len(turn) > smooth else turned(system, 2 * smooth) or turn  # few frames would draw paths as polygons
    canvas = Canvas(system, turn=paths, trace=trace, dark=dark, labels=False, whole_turn=True, size=frame.inches)
    return Film(turn, canvas, loads, frame, [""] * len(frames)).write(path, frames, fps, progress)


def play(
    run: Trajectory,
    path: str | os.PathLike[str],
    *,
    speed: float = 1.0,
    fps: int = 25,
    trace: Sequence[str] | None = None,
    loads: bool = False,
    width: int | None = None,
    resolution: Any = None,
    dark: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Write a run (or cycle) in its own time as .gif (or .mp4), `speed` times as fast, and return the path.

    `trace` names points whose paths are shown (default: marked points; `[]`: none); `loads`: arrows for the loads of pins;
    `width`, `resolution`: as in `animate`. `progress(done, frames)` is called after every frame.
    """
    path = files.checked(path, files.ANIMATIONS)
    check_program(path)
    if not (fps > 0 and speed > 0.0):
        raise UsageError("an animation needs fps and speed above 0.", name="fps")
    frame = frame_size(path, width, resolution)
    if len(run) < 2:
        raise UsageError("one sample does not move: animate a cycle or a run with at least two samples.")
    still = _frame_time(path, fps)
    span = float(run.t[-1] - run.t[0])
    count = round(span / speed / still) + 1
    if count > MOST_PLAYED:
        raise UsageError(
            f"{span:g} s at speed {speed:g} would be {counted(count, 'frame')}. At most {MOST_PLAYED} are written. "
            f"Show it faster (speed={span / still / MOST_PLAYED:.2g}), with fewer fps, or a part: run.between(0, 5).",
            name=span,
        )
    shown = run.at(np.linspace(run.t[0], run.t[-1], max(count, 2)))
    pace = "" if speed == 1.0 else f"   (speed {speed:g})"
    looks = 400  # samples of a run that give paths and travels
    whole = run[:: max(1, len(run) // looks)]
    canvas = Canvas(system_of(run), turn=whole, trace=trace, dark=dark, labels=False, whole_turn=True, size=frame.inches)
    film = Film(shown, canvas, loads, frame, [f"t = {t:.2f} s{pace}" for t in shown.t])
    return film.write(path, list(range(len(shown))), fps, progress)


def _frame_time(path: Path, fps: float) -> float:
    """Seconds a frame stays: GIF counts in hundredths."""
    return max(2, round(100 / fps)) / 100 if path.suffix.lower() == ".gif" else 1.0 / fps


@dataclass(frozen=True)
class FrameSize:
    """Pixels of a frame; without a height the one that suits the drawing."""

    width: int
    height: int | None = None

    @property
    def inches(self) -> tuple[float, float] | None:
        """Size of the figure: texts and lines keep their share of a frame, whatever its pixels."""
        return None if self.height is None else (HEIGHT * self.width / self.height, HEIGHT)


def frame_size(path: Path, width: int | None, resolution: Any) -> FrameSize:
    """Return the size of frames: as asked for, else 1080p of .mp4 and 560 pixels wide of .gif."""
    if width is not None and resolution is not None:
        raise UsageError("give a width or a resolution, not both.", name="resolution")
    if width is None and resolution is None and path.suffix.lower() == ".mp4":
        resolution = "1080p"
    if resolution is None:
        wide = 560 if width is None else width
        if isinstance(wide, bool) or not isinstance(wide, (int, np.integer)) or not 100 <= wide <= MOST_PIXELS:
            raise UsageError(
                f"the width of an animation is a whole number of pixels from 100 to {MOST_PIXELS}, not {wide!r:.40}.", value=wide
            )
        return FrameSize(int(wide))
    named = RESOLUTIONS.get(resolution) if isinstance(resolution, str) else resolution
    if named is None and (pixels := re.fullmatch(r"\s*(\d{3,4})\s*[xX×]\s*(\d{3,4})\s*", resolution)):
        named = int(pixels[1]), int(pixels[2])
    fits = isinstance(named, Sequence) and len(named) == 2 and all(isinstance(x, (int, np.integer)) for x in named)
    if not (fits and all(100 <= x <= MOST_PIXELS for x in named)):
        raise UsageError(
            f"resolution is {', '.join(RESOLUTIONS)}, or width and height in pixels from 100 to {MOST_PIXELS} such as 1280x720, "
            f"not {resolution!r:.40}.",
            name="resolution",
            value=resolution,
            allowed=RESOLUTIONS,
        )
    return FrameSize(int(named[0]), int(named[1]))


class Film:
    """Samples of a motion on a canvas with a fixed window; `stamps` is what is written beside each sample."""

    def __init__(self, c: Trajectory, canvas: Canvas, loads: bool, frame: FrameSize, stamps: Sequence[str]):
        self.c, self.canvas, self.frame, self.stamps = c, canvas, frame, stamps
        self.canvas.dpi = frame.width / (frame.inches or (WIDE,))[0]
        self.arrows = LoadArrows(c, self.canvas) if loads else None
        self.canvas.scene.touch_forces = TouchForces(c)

    def image(self, k: int, stamp: str) -> Any:
        """One sample as an RGB image."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from PIL import Image

        figure = self.canvas.figure(self.c._instants[k], again=True, off=off_at(self.c, k), sample=k)
        if self.arrows is not None:
            self.arrows.draw(figure, k)
        if stamp:
            figure.text(0.965, 0.035, stamp, fontsize=10.0, ha="right", va="bottom", color=self.canvas.look.ink)
        figure.set_dpi(self.frame.width / figure.get_size_inches()[0])
        agg = FigureCanvasAgg(figure)
        agg.draw()
        return Image.fromarray(np.asarray(agg.buffer_rgba())[..., :3].copy())

    def write(self, path: Path, frames: list[int], fps: float, progress: Progress | None) -> Path:
        """All frames into a file; complete or not there."""

        def images() -> Iterator[Any]:
            for done, (k, stamp) in enumerate(zip(frames, self.stamps, strict=True), start=1):
                yield self.image(k, stamp)
                if progress is not None:
                    progress(done, len(frames))

        with style.settings(self.canvas.look), files.replacing(path, files.ANIMATIONS) as temporary:
            if path.suffix.lower() == ".gif":
                few = [frames[i] for i in np.linspace(0, len(frames) - 1, min(4, len(frames))).astype(int)]
                colors = SHADES if self.canvas.scene.surfaces else COLORS
                _write_gif(images(), [self.image(k, self.stamps[0]) for k in few], temporary, _frame_time(path, fps), colors)
            else:
                _write_mp4(images(), temporary, fps)
        return path


def _samples(system: System, turn: Trajectory | None, seconds: float | None, fps: int) -> tuple[Trajectory, list[int]]:
    """(turn, sample shown in each frame): frames at equal times; a swing goes there and back."""
    coarse = turn if turn is not None else mechanism_of(system).cycle(steps=4)
    real = float(coarse.t[-1] - coarse.t[0])
    shown = seconds if seconds is not None else float(np.clip(real, SHORTEST_CYCLE, LONGEST_CYCLE))
    count = int(np.clip(round(shown * fps), 2, MOST_FRAMES))
    back_and_forth = not (coarse.full_turn or _closed(coarse))
    steps = count // 2 if back_and_forth else count
    if turn is None:
        turn = mechanism_of(system).cycle(steps=max(steps, 2))
    there = [round(k) for k in np.linspace(0, len(turn) - 1, steps + 1)]
    return turn, (there + there[-2:0:-1]) if back_and_forth else there[:-1]


def _closed(turn: Trajectory) -> bool:
    """True if the motion ends where it began, as a program of moves does."""
    first, last = turn._instants[0].motion.X, turn._instants[-1].motion.X
    return all(np.allclose(a.p, b.p, atol=1e-6) and np.allclose(a.R, b.R, atol=1e-6) for a, b in zip(first, last, strict=True))


def _write_gif(images: Iterator[Any], few: Sequence[Any], path: Path, frame_time: float, colors: int) -> None:
    """All frames share one palette, that of a few of them, so that unchanged pixels stay the same and cost nothing."""
    from PIL import Image

    sheet = Image.new("RGB", (few[0].width, few[0].height * len(few)))
    for i, image in enumerate(few):
        sheet.paste(image, (0, i * image.height))
    palette = sheet.quantize(colors, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    flat = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    timing = {"duration": round(1000 * frame_time), "loop": 0, "disposal": 1}
    flat[0].save(path, save_all=True, append_images=flat[1:], optimize=False, comment=files.OWNER.encode(), **timing)


def _write_mp4(images: Iterator[Any], path: Path, fps: float) -> None:
    """Frames go to ffmpeg one by one, as they are drawn."""
    first = next(images)
    size = (first.width // 2 * 2, first.height // 2 * 2)  # the codec wants even sizes
    command = ["ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", str(fps)]
    command += ["-i", "-", "-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "20", "-metadata", f"comment={files.OWNER}", str(path)]
    with tempfile.TemporaryFile() as log, subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log) as program:
        assert program.stdin is not None
        try:
            for image in itertools.chain([first], images):
                program.stdin.write(image.crop((0, 0, *size)).tobytes())
            program.stdin.close()
        except BrokenPipeError:
            program.kill()  # it has ended already; its output says why
        code = program.wait()
        log.seek(0)
        said = log.read().decode(errors="replace").strip()[-200:]
    if code:
        raise LinkwrightError(
            f"ffmpeg could not write '{path.name}': {said or f'it ended with {code}'}. Write a .gif instead.", name=path.name
        )
