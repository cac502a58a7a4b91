/* Singular positions, the projection onto the loops, and the derivatives of all states. */
#include <math.h>
#include <string.h>
#include "NAME_core.h"

#define LAST_GAP 1e-10 /* dimensionless gap of the loops whose correction is the last one: it leaves the square of it */
#define ROUNDS 8      /* projections at most */
#define PATIENT 40    /* and in a singular position, where they converge linearly */
#define STEADY 0.05   /* s for which accelerations are continued through a singular position */
#define LOOSE 1e-7    /* gap that is accepted where small pivots allow no better */

/* M + stiff J'J of a row, factored: regular also where J loses rank. Returns the stiffness, 0 if it fails. */
static double regularized(struct NAME_instance *m, const double *row)
{
    NAME_loop_Singular *s = &m->singular;
    memcpy(s->rows, NAME_row_scale, NAME_nlam * sizeof(double));
    memcpy(s->columns, NAME_column_scale, NAME_nv * sizeof(double));
    NAME_values(&NAME_tape_terms, row, s->terms.y, m->work);
    return NAME_loop_regularized(s);
}

/*
 * Accelerations and multipliers in a singular position: those of a moment ago, changed as little (in the mass metric) as the loops demand.
 * Where none are known, the ones of least constraint: M a + h = J' lam by the augmented Lagrangian.
 */
static int singular_slope(struct NAME_instance *m, const double *row, double *y)
{
    NAME_loop_Singular *s = &m->singular;
    const double *M = s->terms.y + NAME_terms_M, *h = s->terms.y + NAME_terms_h;
    double *a = y + NAME_nq, *lam = y + NAME_nstates;
    const int known = m->now.steady_known && fabs(row[NAME_at_t] - m->now.steady_since) < STEADY;
    const double stiff = regularized(m, row);
    int i, j, r;
    if (!(stiff > 0.0)) return -1;
    for (i = 0; i < NAME_nv; i++) {
        s->load[i] = known ? 0.0 : -h[i];
        for (j = 0; known && j < NAME_nv; j++) s->load[i] += M[i * NAME_nv + j] * m->now.steady[j];
    }
    NAME_loop_accelerated(s, stiff, a, NAME_nv);
    for (i = 0; i < NAME_nstates; i++)
        if (y[i] - y[i] != 0.0) return -1;
    for (r = 0; r < NAME_nlam; r++) lam[r] = known ? m->now.steady[NAME_nv + r] : s->pull[r];
    if (known) NAME_loop_balanced(s, a, NAME_nv, lam, NAME_nlam);
    if (!m->now.singular) NAME_report(m, NAME_warning, "near a singular position: accelerations are continued from before it", row[NAME_at_t], 0);
    m->now.singular = 1;
    return 1;
}

/* Accelerations and multipliers of a regular position, kept for a singular one. */
static int regular(struct NAME_instance *m, const double *row, const double *y)
{
    memcpy(m->now.steady, y + NAME_nq, NAME_nv * sizeof(double));
    if (NAME_nlam) memcpy(m->now.steady + NAME_nv, y + NAME_nstates, NAME_nlam * sizeof(double));
    m->now.steady_since = row[NAME_at_t];
    m->now.steady_known = 1;
    m->now.singular = 0;
    return 0;
}

/*
 * Derivatives of the states and multipliers at a row: 0, 1 near a singular position, -1 if there are none. Where pivots are small, what a
 * row is off the loops would be magnified: there the derivatives are taken nearer and nearer to the closed state, without a jump.
 */
int NAME_slope(struct NAME_instance *m, const double *row, double *y)
{
    const int status = NAME_rates(row, y);
    const double margin = status ? 0.0 : y[NAME_rates_outputs - 1];
    double near_[NAME_row], share;
    int i;
    if (margin > NAME_WIDE) return regular(m, row, y);
    share = margin > NAME_NARROW ? log(NAME_WIDE / margin) / log(NAME_WIDE / NAME_NARROW) : 1.0;
    share = share * share * (3.0 - 2.0 * share);
    memcpy(near_, row, sizeof near_);
    if (NAME_project(m, near_)) memcpy(near_, row, sizeof near_);
    for (i = 0; i < NAME_nq + NAME_nv; i++) near_[i] = row[i] + share * (near_[i] - row[i]);
    return NAME_rates(near_, y) ? singular_slope(m, near_, y) : regular(m, row, y);
}

static int singular_projection(struct NAME_instance *m, double *row, double *y)
{
    NAME_loop_Singular *s = &m->singular;
    const double stiff = regularized(m, row);
    double dq[NAME_nv], dv[NAME_nv], probe[NAME_row], *residual = y + NAME_nq + NAME_nv;
    int i;
    if (!(stiff > 0.0)) return -1;
    NAME_loop_corrected(s, stiff, row + NAME_nq, NAME_nv, dq, NAME_nv, dv, NAME_nv);
    residual[0] = NAME_loop_largest_gap(s->terms.y + NAME_terms_phi, NAME_nlam, s->rows, NAME_nlam);
    residual[1] = NAME_loop_largest_gap(s->gap, NAME_nlam, s->rows, NAME_nlam);
    memcpy(probe, row, sizeof probe);
    memcpy(probe + NAME_nq, dq, sizeof dq);
    NAME_moved(probe, y);
    for (i = 0; i < NAME_nv; i++) y[NAME_nq + i] = row[NAME_nq + i] + dv[i];
    return 0;
}

/* Back onto the loops and prescribed motions, shortest in the mass metric. Returns 0, or -1 if they do not close. */
int NAME_project(struct NAME_instance *m, double *row)
{
    double y[NAME_projection_outputs], fast = 1.0, before = INFINITY;
    int i, round, degenerate = 0;
    if (!NAME_nlam && !NAME_nquaternions) return 0;
    for (i = 0; i < NAME_nv; i++) fast = fmax(fast, fabs(row[NAME_nq + i]));
    for (round = 0; round < (degenerate ? PATIENT : ROUNDS); round++) {
        double off;
        if (NAME_projection(row, y) || y[NAME_projection_outputs - 1] < NAME_NARROW) {
            degenerate = 1;
            if (singular_projection(m, row, y) < 0) return -1;
        }
        off = fmax(y[NAME_nq + NAME_nv], y[NAME_nq + NAME_nv + 1] / fast); /* before this correction */
        if (off > 0.5 * before && off < LOOSE) return 0; /* small pivots: it gets no better */
        memcpy(row, y, (NAME_nq + NAME_nv) * sizeof(double));
        if (off < LAST_GAP) return 0;
        if (!(off < 1.0)) return -1;
        before = off;
    }
    return before < LOOSE ? 0 : -1;
}
