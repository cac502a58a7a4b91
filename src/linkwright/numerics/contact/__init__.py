"""The contact problem with Coulomb's law as it is, and its one solver.

    u = W p + b        speeds after an impact (p: impulses), or accelerations (p: forces), loops and given motions eliminated in W
    0 <= u_n  _|_  p_n >= 0,    |p_t| <= mu p_n,    p_t = -mu p_n u_t / |u_t|  where u_t is not zero

problem.py         rows, kinds of blocks and memory of a problem    residual.py   by how much p fails the law: one number
one_contact.py     the exact answer for one block                   gauss_seidel.py   sweeps of it over all blocks
newton.py          semi-smooth Newton, proximal                     admm.py       alternating directions, for ill-conditioned W
linear_solver.py   Gaussian elimination in place                    ladder.py     the order in which these are tried
solver.py          a problem with its memory, as callers see it

All but `solver.py` is written in the subset of Python that `compiler.native_loops` makes native, without allocation. The law is not
convexified: the convex problem (u in the dual cone) lets what slides separate with u_n = mu |u_t|.
"""

from linkwright.numerics.contact.problem import FRICTION, ONE_SIDED, PLANAR, SPATIAL, Contacts, memory
from linkwright.numerics.contact.solver import ContactAnswer, ContactSolver

__all__ = ["FRICTION", "ONE_SIDED", "PLANAR", "SPATIAL", "ContactAnswer", "ContactSolver", "Contacts", "memory"]
