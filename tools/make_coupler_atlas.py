"""Make the coupler-curve atlas: `python -m tools.make_coupler_atlas` writes coupler_atlas.npz into the synthesis ring.

COUNT four-bars with a crank: their slacks and coupler points are the points of a lattice, rounded to 8 bits each; the curve of each is
stored as Fourier descriptors in 8 bits a number. Curves of the other branch are mirror images, found by mirroring the query. Each run
gives the same bytes.
"""

from __future__ import annotations

import numpy as np

from linkwright.rings.synthesis.coupler_atlas import FILE, STEPS, curves, descriptors, parameters

Array = np.ndarray

COUNT = 20480
ROOT = 1.1673039782614187  # of g^5 = g + 1: powers of 1/g are the steps of a lattice in five dimensions


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
