/* Singular positions, the projection onto the loops, and the derivatives of all states. */
#include <math.h>
#include <string.h>
#include "NAME_core.h"

#define CLOSED 1e-10  /* dimensionless gap of the loops before a projection that needs no other one */
#define ROUNDS 8      /* projections at most */
#define PATIENT 40    /* and in a singular position, where they converge linearly */
#define STEADY 0.05   /* s for which accelerations are continued through a singular position */
#define LOOSE 1e-7    /* gap that is accepted where small pivots allow no better */

int NAME_factor(double *A, int n)
{
    int i, j, k;
    for (j = 0; j < n; j++) {
        for (i = j; i < n; i++) {
            double s = A[i * n + j];
            for (k = 0; k < j; k++) s -= A[i * n + k] * A[j * n + k];
            if (i == j && !(s > 0.0)) return 0;
            A[i * n + j] = i == j ? sqrt(s) : s / A[j * n + j];
        }
    }
    return 1;
}

void NAME_substitute(const double *A, int n, double *b)
{
    int i, k;
    for (i = 0; i < n; i++) {
        for (k = 0; k < i; k++) b[i] -= A[i * n + k] * b[k];
        b[i] /= A[i * n + i];
    }
    for (i = n - 1; i >= 0; i--) {
        for (k = i + 1; k < n; k++) b[i] -= A[k * n + i] * b[k];
        b[i] /= A[i * n + i];
    }
}

/* M + stiff J'J in dimensionless coordinates and rows, factored; regular also where J loses rank. Returns the stiffness, 0 if it fails. */
static double regularized(struct NAME_instance *m, const double *row)
{
    const double *M = m->terms + NAME_terms_M, *J = m->terms + NAME_terms_J;
    double largest = 0.0, stiff;
    int i, j, r;
    NAME_values(&NAME_tape_terms, row, m->terms, m->work);
    for (i = 0; i < NAME_nv; i++) largest = fmax(largest, M[i * NAME_nv + i] * NAME_column_scale[i] * NAME_column_scale[i]);
    stiff = 1e7 * largest;
    for (i = 0; i < NAME_nv; i++) {
        for (j = 0; j <= i; j++) {
            double s = M[i * NAME_nv + j];
            for (r = 0; r < NAME_nlam; r++) s += stiff * J[r * NAME_nv + i] * J[r * NAME_nv + j] / (NAME_row_scale[r] * NAME_row_scale[r]);
            m->matrix[i * NAME_nv + j] = s * NAME_column_scale[i] * NAME_column_scale[j];
        }
    }
    return NAME_factor(m->matrix, NAME_nv) ? stiff : 0.0;
}

/* right = -J' stiff gap in dimensionless coordinates, solved for and scaled back. */
static void pulled_back(struct NAME_instance *m, double stiff, const double *gap, const double *force, double *x)
{
    const double *J = m->terms + NAME_terms_J;
    int i, r;
    for (i = 0; i < NAME_nv; i++) {
        double s = force ? force[i] : 0.0;
        for (r = 0; r < NAME_nlam; r++) s -= stiff * J[r * NAME_nv + i] * gap[r] / (NAME_row_scale[r] * NAME_row_scale[r]);
        x[i] = s * NAME_column_scale[i];
    }
    NAME_substitute(m->matrix, NAME_nv, x);
    for (i = 0; i < NAME_nv; i++) x[i] *= NAME_column_scale[i];
}

/* lam = lam + J z with J'J z = M a + h - J' lam: the smallest change of the multipliers that balances the accelerations. */
static void balance(struct NAME_instance *m, const double *a, double *lam)
{
    const double *M = m->terms + NAME_terms_M, *h = m->terms + NAME_terms_h, *J = m->terms + NAME_terms_J;
    double z[NAME_nv];
    int i, j, r;
    for (i = 0; i < NAME_nv; i++) {
        z[i] = h[i];
        for (j = 0; j < NAME_nv; j++) z[i] += M[i * NAME_nv + j] * a[j];
        for (r = 0; r < NAME_nlam; r++) z[i] -= J[r * NAME_nv + i] * lam[r];
        z[i] *= NAME_column_scale[i];
        for (j = 0; j <= i; j++) {
            double s = i == j ? 1e-10 : 0.0;
            for (r = 0; r < NAME_nlam; r++) s += J[r * NAME_nv + i] * J[r * NAME_nv + j] / (NAME_row_scale[r] * NAME_row_scale[r]);
            m->matrix[i * NAME_nv + j] = s * NAME_column_scale[i] * NAME_column_scale[j];
        }
        m->matrix[i * NAME_nv + i] += 1e-10;
    }
    if (!NAME_factor(m->matrix, NAME_nv)) return;
    NAME_substitute(m->matrix, NAME_nv, z);
    for (r = 0; r < NAME_nlam; r++)
        for (i = 0; i < NAME_nv; i++) lam[r] += J[r * NAME_nv + i] * NAME_column_scale[i] * z[i] / (NAME_row_scale[r] * NAME_row_scale[r]);
}

/*
 * Accelerations and multipliers in a singular position: those of a moment ago, changed as little (in the mass metric) as the loops demand.
 * Where none are known, the ones of least constraint: M a + h = J' lam by the augmented Lagrangian.
 */
static int singular_slope(struct NAME_instance *m, const double *row, double *y)
{
    const double *M = m->terms + NAME_terms_M, *h = m->terms + NAME_terms_h, *J = m->terms + NAME_terms_J, *k = m->terms + NAME_terms_k;
    double *a = y + NAME_nq, *lam = y + NAME_nstates, force[NAME_nv], pull[NAME_ROOM(NAME_nlam)];
    const int known = m->now.steady_known && fabs(row[NAME_at_t] - m->now.steady_since) < STEADY;
    const double stiff = regularized(m, row);
    int i, j, r, round;
    if (!(stiff > 0.0)) return -1;
    for (r = 0; r < NAME_nlam; r++) pull[r] = 0.0;
    for (round = 0; round < 6; round++) {
        for (i = 0; i < NAME_nv; i++) {
            force[i] = known ? 0.0 : -h[i];
            for (j = 0; known && j < NAME_nv; j++) force[i] += M[i * NAME_nv + j] * m->now.steady[j];
            for (r = 0; r < NAME_nlam; r++) force[i] += J[r * NAME_nv + i] * pull[r];
        }
        pulled_back(m, stiff, k, force, a);
        for (r = 0; r < NAME_nlam; r++) {
            double gap = k[r];
            for (i = 0; i < NAME_nv; i++) gap += J[r * NAME_nv + i] * a[i];
            pull[r] -= stiff * gap / (NAME_row_scale[r] * NAME_row_scale[r]);
        }
    }
    for (i = 0; i < NAME_nstates; i++)
        if (y[i] - y[i] != 0.0) return -1;
    for (r = 0; r < NAME_nlam; r++) lam[r] = known ? m->now.steady[NAME_nv + r] : pull[r];
    if (known) balance(m, a, lam);
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
    const double *phi = m->terms + NAME_terms_phi, *b = m->terms + NAME_terms_b, *J = m->terms + NAME_terms_J;
    const double stiff = regularized(m, row);
    double dq[NAME_nv], dv[NAME_nv], gap[NAME_ROOM(NAME_nlam)], probe[NAME_row], *residual = y + NAME_nq + NAME_nv;
    int i, r;
    if (!(stiff > 0.0)) return -1;
    residual[0] = residual[1] = 0.0;
    for (r = 0; r < NAME_nlam; r++) {
        gap[r] = b[r];
        for (i = 0; i < NAME_nv; i++) gap[r] += J[r * NAME_nv + i] * row[NAME_nq + i];
        residual[0] = fmax(residual[0], fabs(phi[r]) / NAME_row_scale[r]);
        residual[1] = fmax(residual[1], fabs(gap[r]) / NAME_row_scale[r]);
    }
    pulled_back(m, stiff, phi, 0, dq);
    pulled_back(m, stiff, gap, 0, dv);
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
        if (off < CLOSED) return 0;
        if (!(off < 1.0)) return -1;
        before = off;
    }
    return before < LOOSE ? 0 : -1;
}
