"""An animated picture of one turn: GIF by pillow, MP4 where ffmpeg is installed.

The window is the same in every frame, marked points leave their paths, and a swing runs there and back so that the
picture can repeat without a jump.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.errors import LinkwrightError, UsageError
from linkwright.results import Trajectory
from linkwright.system import System
from linkwright.views import files, style
from linkwright.views.picture import Canvas

ANIMATIONS = (".gif", ".mp4")
SHORTEST, LONGEST = 2.0, 6.0  # seconds of one cycle on the screen, unless asked otherwise
MOST_FRAMES = 600
COLOURS = 64  # in a GIF: flat drawings need no more, and files stay small


def check_program(path: str | os.PathLike[str]) -> None:
    """MP4 needs ffmpeg; better known before a long computation than after."""
    path = Path(path)
    if path.suffix.lower() == ".mp4" and shutil.which("ffmpeg") is None:
        raise UsageError(f"cannot write '{path.name}': MP4 needs the program ffmpeg, which is not installed. Write a .gif instead.")


def animate(
    mechanism: Any,
    path: str | os.PathLike[str],
    *,
    seconds: float | None = None,
    fps: int = 25,
    turn: Trajectory | None = None,
    trace: Sequence[str] | None = None,
    width: int = 560,
    dark: bool = False,
    force: bool = False,
) -> Path:
    """Write one turn of a Mechanism or System as .gif (or .mp4) of `width` pixels, and return the path.

    `seconds` is the duration of a cycle on the screen (default: the real one, kept between 2 and 6 s). `turn` is a turn
    already at hand; it is shown at its own samples.
    """
    path = files.checked(path, ANIMATIONS, force=force)
    check_program(path)
    if not (fps > 0 and (seconds is None or seconds > 0) and 100 <= width <= 4000):
        raise UsageError("an animation needs fps and seconds above 0 and a width between 100 and 4000 pixels.")
    system: System = getattr(mechanism, "system", mechanism)
    turn, frames = _samples(system, turn, seconds, fps)
    canvas = Canvas(system, turn=turn, trace=trace, dark=dark, labels=False, whole_turn=True)
    with style.settings(canvas.look), files.replacing(path, ANIMATIONS, force=force) as temporary:
        images = _images(canvas, turn, frames, width)
        (_write_gif if path.suffix.lower() == ".gif" else _write_mp4)(images, temporary, fps)
    return path


def _samples(system: System, turn: Trajectory | None, seconds: float | None, fps: int) -> tuple[Trajectory, list[int]]:
    """(turn, sample shown in each frame): frames at equal times; a swing goes there and back."""
    coarse = turn if turn is not None else system.turn(steps=4)
    real = float(coarse.t[-1] - coarse.t[0])
    shown = seconds if seconds is not None else float(np.clip(real, SHORTEST, LONGEST))
    count = int(np.clip(round(shown * fps), 2, MOST_FRAMES))
    back_and_forth = not (coarse.full_turn or _closed(coarse))
    steps = count // 2 if back_and_forth else count
    if turn is None:
        turn = system.turn(steps=max(steps, 2))
    there = [round(k) for k in np.linspace(0, len(turn) - 1, steps + 1)]
    return turn, (there + there[-2:0:-1]) if back_and_forth else there[:-1]


def _closed(turn: Trajectory) -> bool:
    """Whether the motion ends where it began, as a programme of moves does."""
    first, last = turn.instants[0].motion.X, turn.instants[-1].motion.X
    return all(np.allclose(a.p, b.p, atol=1e-6) and np.allclose(a.R, b.R, atol=1e-6) for a, b in zip(first, last, strict=True))


def _images(canvas: Canvas, turn: Trajectory, frames: list[int], width: int) -> Iterator[Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    for k in frames:
        figure = canvas.figure(turn.instants[k])
        figure.set_dpi(width / figure.get_size_inches()[0])
        agg = FigureCanvasAgg(figure)
        agg.draw()
        yield Image.fromarray(np.asarray(agg.buffer_rgba())[..., :3].copy())


def _write_gif(images: Iterator[Any], path: Path, fps: int) -> None:
    """All frames share one palette, so that unchanged pixels stay the same and cost nothing."""
    from PIL import Image

    every = list(images)
    sheet = Image.new("RGB", (every[0].width, every[0].height * min(4, len(every))))
    for i, k in enumerate(np.linspace(0, len(every) - 1, min(4, len(every))).astype(int)):
        sheet.paste(every[k], (0, i * every[0].height))
    palette = sheet.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    flat = [im.quantize(palette=palette, dither=Image.Dither.NONE) for im in every]
    flat[0].save(path, save_all=True, append_images=flat[1:], duration=max(20, round(1000 / fps)), loop=0, optimize=False, disposal=1)


def _write_mp4(images: Iterator[Any], path: Path, fps: int) -> None:
    first = next(images)
    size = (first.width // 2 * 2, first.height // 2 * 2)  # the codec wants even sizes
    command = ["ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", str(fps)]
    command += ["-i", "-", "-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "20", str(path)]
    data = b"".join(im.crop((0, 0, *size)).tobytes() for im in (first, *images))
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    if done.returncode:
        raise LinkwrightError(
            f"ffmpeg could not write '{path.name}': {done.stderr.decode(errors='replace').strip()[-200:]}. Write a .gif instead."
        )
