"""Errata of the papers: one table, from which every page that speaks of misprints is made (docs/make/make_papers.py).

Each row names the place, what is printed there, what is correct and how the error was found. `topic` says what it touches: a
`method` (implemented here in its corrected form), the `data` of an example, or the `text` (references between equations, names).
Some may be faults of the copies that were read; a copy with fewer of them is named where there is one.
"""

from __future__ import annotations

from typing import NamedTuple

TOPICS = ("method", "data", "text")


class Erratum(NamedTuple):
    """One misprint of paper `paper`, a key of docs/data/references.bib."""

    paper: str
    place: str
    printed: str
    correct: str
    found: str
    topic: str = "method"


KOUL = (
    Erratum(
        "Koul2013", "A.1, J_22(2,1)", "-a2 c2 - a39 c3", "+a2 c2 - a39 c3",
        "J compared entry by entry at 12 positions; as printed 0.127 m off at the start, accelerations 10 rad/s^2 off",
    ),
    Erratum(
        "Koul2013", "A.2, J_11(2,1) and J_11(2,2)", "-d1 c7", "+d1 c7",
        "J compared entry by entry at 4 positions; as printed 0.400 m off at the start",
    ),
    Erratum(
        "Koul2013", "A.1", "a3, a6, a9", "a38 = a39 = 0.1152 m (half the coupler), a67 = 0.239 m, a97",
        "double subscripts are lost: read with Table 1, 12 entries of J are wrong; [KoulAppendix2013] has the subscripts",
    ),
    Erratum(
        "Koul2013", "(9), (11), after (27), (39)", "J-hat q', J q', J q' = Psi, J_ij", "J-dot q', J-dot q', J q'' = Psi, J-dot_ij",
        "dots are lost: (8) and (47) have them, and J-hat is another matrix (Sec. 2.2)",
    ),
    Erratum(
        "Koul2013", "(46), (52), (53)", "q' above -lambda", "q'' above -lambda",
        "dots are lost: the unknowns of (9) are accelerations; [KoulAppendix2013] has the dots",
    ),
    Erratum(
        "Koul2013", "(54)", "I-bar_1^12 (...)^-1 (I-bar_1^21)'", "I-bar_1^21 (...)^-1 (I-bar_1^21)'",
        "only this is the Schur complement of (53); as printed the multipliers of the 3-RRR are 0.0208 N off",
    ),
    Erratum(
        "Koul2013", "(27), (38)", "phi_j without gravity", "gravity is part of tau^E in every subsystem",
        "without it nothing falls in Figs. 7(a) and 8(a)",
    ),
    Erratum("Koul2013", "(15)", "Psi_j", "Psi_i: one block for each loop", "Psi has as many blocks as J has block rows"),
    Erratum(
        "Koul2013", "(18), after (19)", "J-bar_j' lambda; I-hat_ij' = J_ij I_j^-T", "J-bar_j lambda; I-hat_ij = J_ij I_j^-1",
        "J-bar_j as defined after (14) is a transpose already; sizes do not match otherwise",
    ),
    Erratum(
        "Koul2013", "(34)", "I-tilde_32", "I-bar_32",
        "the block of loops 3 and 2 is not changed by the elimination; the tilde means J I^-1 J' in (11) and a Schur complement here",
    ),
    Erratum(
        "Koul2013", "(50), (52), after (53)", "I-bar_22, Psi-bar_2; Psi-tilde on the right; I_1^21 (I_1^11 + I_2^11)^-1",
        "I-tilde_22, Psi-tilde_2; Psi_1, Psi_2; bars on all three",
        "the lines around them; [KoulAppendix2013] has the first two right, and a tilde too many on its I-bar_11 in (6)",
    ),
    Erratum(
        "Koul2013", "A.1, rows of loop 1", "one rule for both rows", "x is coupler minus crank, y is crank minus coupler",
        "signs of the printed entries: valid, but lambda_1y is minus the force on the coupler",
    ),
    Erratum("Koul2013", "Sec. 4", "times of lambda in Fig. 4", "Table 4", "there are no times in Fig. 4", "text"),
    Erratum(
        "Koul2013", "Fig. 5", "theta_6, theta_7 at the joints of their subscripts", "at joints 8 and 9; joints 6 and 7 are the cut ones",
        "the cut joints of (36)", "text",
    ),
)  # fmt: skip

CHAUDHARY = (
    Erratum("Chaudhary2007", "(8)", "M W t-dot", "W M E t", "(2) and (5), of which it is the same equation"),
    Erratum("Chaudhary2007", "(9), definition of w*", "W M E t-dot", "W M E t", "(2) and (5); DeNOC matrices against recursions, 1e-11"),
    Erratum(
        "Chaudhary2007", "(11)", "one successor", "a sum over all children; w^e holds gravity, tau_D and the multipliers found before",
        "link III-1^0 of the scraper has two children; all joint forces against the 21 Newton-Euler equations",
    ),
    Erratum(
        "Chaudhary2007", "(12), (18)", "a_{i,i+1}, a_{i,i-1} without direction", "from O_i to O_{i+1}, from O_i to O_{i-1}",
        "the signs of the two matrices; (19) holds for them",
    ),
    Erratum("Chaudhary2007", "after (20)", "theta_i is the linear speed", "theta_i is the travel, its rate the speed", "(17)", "text"),
    Erratum("Chaudhary2007", "(1)", "6 + sum of n_j", "without the 6 for a fixed base", "Sec. 6.1 counts 7 for the scraper"),
    Erratum(
        "Chaudhary2007", "Sec. 5, system approach", "Eqs. (10) and (14)", "(11) and (14)", "(14) has the unknowns of (10) already", "text"
    ),
    Erratum(
        "Chaudhary2007", "Sec. 6.1", "theta_1 and theta_2 of Subsystem II, theta_1 of Subsystem I", "exchanged",
        "Subsystem I has two bodies", "text",
    ),
    Erratum("Chaudhary2007", "Sec. 6.1", "#1-1; indicated in Fig. 8", "#I-1; Fig. 7", "the drawings", "text"),
    Erratum(
        "Chaudhary2007", "Table 1, footnote", "the extension of 0.597 m is beyond joint III-2^0", "beyond joint III-3^0",
        "a rod that continues there has 948e-3 kg m^2, the table's 2449e-3 belong to the other", "data",
    ),
    Erratum(
        "Chaudhary2007", "Table 1", "B for three ends; a_{2,B} = 0.115 m", "half the coupler",
        "its inertia is the whole rod's about its middle", "data",
    ),
    Erratum(
        "Chaudhary2007", "Table 1, crank", "0.73e-3 kg m^2", "0.722e-3 kg m^2 for a uniform rod",
        "1.1 % too much to be a rounding; at constant speed it takes no part", "data",
    ),
    Erratum("Chaudhary2007", "Table 2, row 3", "3 x 3, order 45.3", "2 x 2, order 39.0", "4 + 2 + 1 unknowns; the text has 2 x 2", "data"),
    Erratum("Chaudhary2007", "Table 2", "30.59 % saved", "28.8 %", "the printed 0.219 and 0.156 s", "data"),
    Erratum("Chaudhary2007", "Table 3, row 1", "order 1994", "1944", "18^3/3", "data"),
    Erratum(
        "Chaudhary2007", "Table 3, row 3", "order 33", "34, counted as in Table 2", "the one equation of the torque is left out",
        "data",
    ),
    Erratum(
        "Chaudhary2007", "Sec. 6.2", "driven link unnamed; #4 and #5 massless", "#6 is driven, of Subsystem I; #2 is massless too",
        "the chain of seven hinges moves like the RSSR only then", "data",
    ),
    Erratum(
        "Chaudhary2007", "Sec. 6.2, Subsystem II", "five equations", "rows 4 and 5 read 0 = 0 and must be left out",
        "the matrix is singular with them", "method",
    ),
)  # fmt: skip

AGHILI = (
    Erratum("Aghili2005", "Sec. II-A", "A_W = A W^(1/2)", "A_W = A W^(-1/2)", "A q' must stay what it is; Sec. VII-B has it right"),
    Erratum("Aghili2005", "Sec. V-D, after (35)", "m q'' = f_par", "m q'' = f_par + m C q'", "the centripetal part that (34) has"),
    Erratum("Aghili2005", "(49), (52)", "C", "C_c, which belongs to the constraint inertia matrix", "the error equation of the force"),
    Erratum("Aghili2005", "(51)", "smallest eigenvalue of A' A", "of A A'", "A' A is singular wherever anything can move"),
    Erratum(
        "Aghili2005", "(37)", "positions are corrected", "velocities must be corrected too",
        "next to a singular position what velocities have across the branch grows by hundreds to thousands of times",
    ),
    Erratum(
        "Aghili2005", "(68)", "P = 1 where cos q1 is not small, [1 -2; -2 4]/5 in the singular positions", "exchanged",
        "A of (67) vanishes in the singular positions",
    ),
    Erratum("Aghili2005", "(69)", "its condition; M_c'", "the reverse; M_c''", "P M + gamma (1 - P) gives this matrix"),
    Erratum("Aghili2005", "(71), (72)", "q1'; u*", "q1'^2; m l^2 u*", "closed form of the mechanism, which has one degree of freedom"),
    Erratum(
        "Aghili2005", "(75)", "-3/5, -3/5, +6/5", "1, 1, -2, and m l^2 on u*",
        "(74) is right and (1 + H)(1, -2) = (5, 0); the printed law is unstable",
    ),
    Erratum("Aghili2005", "(79)", "a dot on c", "without", "the equation before it", "text"),
    Erratum("Aghili2005", "App. V", "<; N_perp is empty", "<=; N_perp = {0}", "equality is met; a space always holds zero", "text"),
    Erratum(
        "Aghili2005", "Table I", "1.18, 2.44, 2.65", "one joint takes sqrt(5) times the torque of two",
        "(60): 2.44/1.18 = 2.07 contradicts it for every duration, gravity and path", "data",
    ),
    Erratum("Aghili2005", "Sec. IX-B", "21 %", "22 %", "2.30/1.89", "data"),
)  # fmt: skip

HOANG = (
    Erratum("Hoang2023", "(1)", "+ Phi_q' lambda on the left", "on the right, as in (15)", "(15) and (17) have the other sign"),
    Erratum("Hoang2023", "(13), Z", "q_a' = Z q' twice; zero block 0_{m,m-n}", "q_a = Z q first; 0_{n,m-n}", "sizes, and the line above"),
    Erratum("Hoang2023", "(19)", "Phi_q q' on the right", "Phi_q-dot q'", "the lower half of (22)"),
    Erratum(
        "Hoang2023", "after (23)", "H^+ = H^-1 in regular positions", "H is (m + r) x m everywhere with R of (21)",
        "9 x 6 for the robot; the least-squares solution is right all the same",
    ),
    Erratum("Hoang2023", "(27)", "phi' A phi", "1/2 phi' A phi", "(28), its derivative"),
    Erratum("Hoang2023", "before (32)", "differentiating (32)", "differentiating (31)", "(32) is the result", "text"),
    Erratum("Hoang2023", "Sec. 5.1, c", "r^2 K_m K_e / R_a + d", "plus r^2 b_m", "(16) has it; zero here", "data"),
    Erratum("Hoang2023", "Figs. 2(b), 3(b)", "residuals in m", "m^2", "f of (36) is a difference of squares", "data"),
    Erratum(
        "Hoang2023", "Sec. 5.2", "K_m = 3 N m/A, K_e = 0.1 V s/rad", "one number for one motor, in SI",
        "power balance: 18.75 J are created in the first 3 s of case 1", "data",
    ),
    Erratum(
        "Hoang2023", "title, Sec. 5.2", "singular configurations", "zeros of the determinants of a partition",
        "the smallest singular value of Phi_q stays above 0.32 in both cases", "text",
    ),
    Erratum(
        "Hoang2023", "Sec. 5.2, case 1", "range [-0.1, 1] m of the center", "x up to 1.188 m", "the motion in quadruple precision",
        "data",
    ),
)  # fmt: skip

ERRATA = (*KOUL, *CHAUDHARY, *AGHILI, *HOANG)


def of_paper(key: str, *topics: str) -> list[Erratum]:
    """Errata of one paper, of the topics named or of all."""
    return [e for e in ERRATA if e.paper == key and e.topic in (topics or TOPICS)]
