"""Contact in the plane and in space: gaps between surfaces, the rows of their relative speeds, and how fast those change.

`contacts:` of a model names surfaces that may touch. Every two of them are one or several *touches*, a fixed number in a fixed order,
which `touches(description)` lists: `touches(d)[i]` has a name, the two surfaces, mu, restitution and jam. For touch i

    g[i]                    gap, signed: > 0 open, 0 touching, < 0 as deep as that
    n                       unit normal, from B to A; t is n turned by +90 degrees, t = (-n_y, n_x); in space two of them (`tangents`)
    u = [n; t]'(v_A - v_B)  relative speed of the material points of A and B that are nearest: u_n > 0 opens, u_t slides A along t
    J[2i], J[2i + 1]        rows of u_n and u_t:  u = J v                   dg/dt = u_n           (in space three rows: 3i, 3i + 1, 3i + 2)
    k[2i], k[2i + 1]        du/dt at a = 0:       du/dt = J a + k           curvature of the surfaces is in k
    first[i], second[i]     the nearest points on A and on B in the world; where they touch both are the place of the touch
    normal[i]               n in the world

A pair with several places (two corners of a box) has one touch for each. A place that is none at the moment, an end of a bar beyond the
other bar, has a gap that is enlarged by what it is beyond; its rows are those of the nearest points.

A force p = (p_n, p_t) of touch i pushes A along n and t and B against them: tau = J' p.

The kernel `contact_terms` (inputs q, v and the parameters) returns these arrays under these names: g (n), J (2n, nv), k (2n), first, second
and normal (n, 2), with 3 in the place of 2 in space. `contact_gaps` (input q) returns g alone. `contact_terms(skel, q, v)` here is the same
over any scalar.
Shapes are functions of poses alone, so that k is their derivative along the motion: on symbols by the tracer, on numbers by a complex step.
"""

from __future__ import annotations

from linkwright.mechanics.contact.pairs import Touch, spots, tangent_count, touches
from linkwright.mechanics.contact.rows import contact_gaps, contact_pushes, contact_terms, without_normal
from linkwright.mechanics.contact.shapes import Placed, Spot, drawn, found
from linkwright.mechanics.contact.solids import PlacedSolid, box_axes, tangents

__all__ = [
    "Placed",
    "PlacedSolid",
    "Spot",
    "Touch",
    "box_axes",
    "contact_gaps",
    "contact_pushes",
    "contact_terms",
    "drawn",
    "found",
    "spots",
    "tangent_count",
    "tangents",
    "touches",
    "without_normal",
]
