"""Make the coupler-curve atlas: `python -m linkwright.rings.synthesis.make_atlas` writes coupler_atlas.npz beside this file.

COUNT four-bars with a crank: their slacks and coupler points are the points of a lattice, rounded to 8 bits each; the curve of each is
stored as Fourier descriptors in 8 bits a number. Curves of the other branch are mirror images, found by mirroring the query. Each run
gives the same bytes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from linkwright.rings.synthesis.coupler_chains import CHAINS, lengths
from linkwright.rings.synthesis.fourier import descriptors

Array = np.ndarray

FILE = Path(__file__).with_name("coupler_atlas.npz")
COUNT = 20480
DRAG_LINKS = 4  # one of so many has the ground as its shortest link
STEPS = 255
CRANKS = 96  # positions of a traced curve
SLACKS = (-1.2, 1.2)  # log10 of the slacks over the shortest link
RADII = (0.05, 2.5)  # of the coupler point from the crank pin, over the coupler's length
ROOT = 1.1673039782614187  # of g^5 = g + 1: powers of 1/g are the steps of a lattice in five dimensions


def parameters(codes: Array) -> tuple[Array, Array, Array]:
    """Return kinds (N,), shapes (N, 4) with shortest link 1, and coupler points (N,) complex of codes (N, 5) from 0 to 255."""
    u = codes / STEPS
    shape = np.column_stack([np.ones(len(u)), 10.0 ** (SLACKS[0] + (SLACKS[1] - SLACKS[0]) * u[:, :3])])
    kind = np.where(np.arange(len(u)) % DRAG_LINKS == DRAG_LINKS - 1, 1, 0)
    coupler = lengths(CHAINS["four-bar"], shape, kind)[:, 2]
    radius = RADII[0] * (RADII[1] / RADII[0]) ** u[:, 3]
    return kind, shape, radius * coupler * np.exp(2j * np.pi * u[:, 4] * STEPS / (STEPS + 1))


def curves(kind: Array, shape: Array, point: Array, sigma: float = 1.0, count: int = CRANKS) -> Array:
    """Return the coupler points (N, count) over a turn of the crank, crank pivot at 0 and ground along x."""
    chain = CHAINS["four-bar"]
    theta = np.broadcast_to(2.0 * np.pi * np.arange(count) / count, (len(kind), count))
    coupler = chain.coupler(shape, kind, np.full(len(kind), sigma), theta)
    return lengths(chain, shape, kind)[:, chain.crank, None] * np.exp(1j * theta) + point[:, None] * coupler


def made(count: int = COUNT) -> dict[str, Array]:
    """Return the arrays of the atlas."""
    lattice = np.mod(0.5 + (1.0 + np.arange(count))[:, None] / ROOT ** np.arange(1.0, 6.0), 1.0)
    codes = np.rint(lattice * STEPS).astype(np.uint8)
    kind, shape, point = parameters(codes)
    found = np.concatenate(
        [descriptors(curves(kind[k : k + 1024], shape[k : k + 1024], point[k : k + 1024])) for k in range(0, count, 1024)]
    )
    # the first coefficient is turned to be real: one number less that is not zero, nothing is lost
    main = found[np.arange(count), np.abs(found).argmax(axis=1)]
    found = found * np.conj(main / np.abs(main))[:, None]
    scale = np.abs(np.concatenate([found.real, found.imag])).max(axis=0)
    parts = np.stack([found.real, found.imag], axis=-1) / scale[None, :, None]
    return {"codes": codes, "descriptors": np.rint(127.0 * parts).astype(np.int8), "scale": scale.astype(np.float32)}


def main() -> None:
    """Write the atlas."""
    arrays = made()
    np.savez_compressed(FILE, codes=arrays["codes"], descriptors=arrays["descriptors"], scale=arrays["scale"])
    print(f"wrote {FILE.name}: {len(arrays['codes'])} curves, {FILE.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
