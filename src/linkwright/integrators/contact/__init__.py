"""The contact problem with Coulomb's law as it is, and its one solver.

    u = W p + b        speeds after an impact (p: impulses), or accelerations (p: forces), loops and given motions eliminated in W
    0 <= u_n  _|_  p_n >= 0,    |p_t| <= mu p_n,    p_t = -mu p_n u_t / |u_t|  where u_t is not zero

problem.py         blocks of rows, memory, residual         gauss_seidel.py   the exact answer for one block; sweeps of it over all
newton.py          semi-smooth Newton, proximal             admm.py           alternating directions, for ill-conditioned W
solver.py          the order in which these are tried       one_sided.py      of rows that push, an independent set
search.py          what the ladder leaves, from other starts
states.py          which contacts open, stick or slip, and whether that is the only answer

All is written in the subset of Python that `compiler.record_loops` makes machine code of, without allocation. The law is not
convexified: the convex problem (u in the dual cone) lets what slides separate with u_n = mu |u_t|.
"""

from linkwright.integrators.contact.problem import FRICTION, ONE_SIDED, PLANAR, SPATIAL, Contacts
from linkwright.integrators.contact.solver import ContactAnswer, ContactSolver

__all__ = ["FRICTION", "ONE_SIDED", "PLANAR", "SPATIAL", "ContactAnswer", "ContactSolver", "Contacts"]
