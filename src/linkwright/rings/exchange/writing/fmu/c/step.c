/*
 * Co-simulation: the pair of order 5(4) of Dormand and Prince with error control, a projection onto the loops after every step, and break
 * points (stops, kinks of laws) located inside steps. Inputs are continued by their slopes.
 */
#include <math.h>
#include <string.h>
#include "NAME_core.h"

#define CHATTER 100    /* break points in one communication step after which they are not looked for any more, */
#define PIECES 50      /* and the number of equal steps that are taken then */
#define MOST 200000    /* attempts in one communication step */

enum { STAGES = 7 };
static const double when[STAGES] = {0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0};
static const double weight[STAGES][STAGES] = {
    {0.0},
    {1.0 / 5.0},
    {3.0 / 40.0, 9.0 / 40.0},
    {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
    {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
    {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
    {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0},
};
static const double error_weight[STAGES] = {
    71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0};

struct trial {
    double row[NAME_row], first[NAME_rates_outputs], last[NAME_rates_outputs];
    double error; /* in units of the tolerance */
};

/* One step of length h from the present row; 0, or -1 where no accelerations exist on the way. `first` is known already. */
static int attempt(struct NAME_instance *m, double h, struct trial *x)
{
    double k[STAGES][NAME_rates_outputs], sum = 0.0;
    const double t = m->now.row[NAME_at_t];
    int s, i, j;
    x->error = INFINITY;
    memcpy(k[0], x->first, sizeof k[0]);
    memcpy(x->row, m->now.row, sizeof x->row);
    for (s = 1; s < STAGES; s++) {
        for (i = 0; i < NAME_nstates; i++) {
            double d = 0.0;
            for (j = 0; j < s; j++) d += weight[s][j] * k[j][i];
            x->row[i] = m->now.row[i] + h * d;
        }
        NAME_inputs_at(m, x->row, t + when[s] * h);
        if (NAME_slope(m, x->row, k[s]) < 0) return -1;
    }
    for (i = 0; i < NAME_nstates; i++) {
        double e = 0.0;
        for (j = 0; j < STAGES; j++) e += error_weight[j] * k[j][i];
        e *= h / (m->now.tolerance * (NAME_nominal[i] + fmax(fabs(m->now.row[i]), fabs(x->row[i]))));
        sum += e * e;
    }
    memcpy(x->last, k[STAGES - 1], sizeof x->last);
    x->error = sqrt(sum / NAME_nstates);
    return x->error - x->error == 0.0 ? 0 : -1;
}

#if NAME_HAS_SWITCHES
/* The state inside a step by Hermite's cubic. */
static void between(const struct NAME_instance *m, const struct trial *x, double h, double share, double *row)
{
    const double a = share * share * (3.0 - 2.0 * share), b = share * (1.0 - share) * (1.0 - share) * h, c = share * share * (share - 1.0) * h;
    int i;
    memcpy(row, m->now.row, NAME_row * sizeof(double));
    for (i = 0; i < NAME_nstates; i++)
        row[i] = (1.0 - a) * m->now.row[i] + a * x->row[i] + b * x->first[i] + c * x->last[i];
    NAME_inputs_at(m, row, m->now.row[NAME_at_t] + share * h);
}

/* Share of the step at which the first switching function leaves its side; 1 or more if none does. */
static double first_crossing(const struct NAME_instance *m, const struct trial *x, double h)
{
    double g[NAME_nswitches], row[NAME_row], low = 0.0, high = 1.0;
    int k;
    NAME_switches(x->row, g);
    if (NAME_cross(x->row, g) < 0) return 2.0;
    for (k = 0; k < 60 && high - low > 1e-15; k++) {
        const double middle = 0.5 * (low + high);
        between(m, x, h, middle, row);
        NAME_switches(row, g);
        if (NAME_cross(row, g) < 0) low = middle;
        else high = middle;
    }
    return high;
}

/* Change the sides of functions that have crossed zero; if none has, but one should have (`force`), of the nearest one. */
static int change_sides(double *row, int force)
{
    double g[NAME_nswitches];
    int i, nearest = -1, changed = 0;
    NAME_switches(row, g);
    for (i = 0; i < NAME_nswitches; i++) {
        double *side = row + NAME_at_sides + i;
        if (*side > 0.0 ? g[i] < 0.0 : g[i] > 0.0) {
            *side = -*side;
            changed = 1;
        } else if (nearest < 0 || fabs(g[i]) < fabs(g[nearest])) nearest = i;
    }
    if (force && !changed && nearest >= 0) row[NAME_at_sides + nearest] = -row[NAME_at_sides + nearest];
    return changed || force;
}
#endif

static int failed(struct NAME_instance *m, const char *text)
{
    const double reached = m->now.row[NAME_at_t];
    NAME_report(m, NAME_discard, text, m->now.step, 0);
    m->now = m->saved;
    m->now.reached = reached;
    m->fresh_rates = m->fresh_outputs = 0;
    return -1;
}

/* A step failed or was too inexact: the next one is shorter. Returns -1 where it cannot be. */
static int shorter(struct NAME_instance *m, double h, double error, double least)
{
    m->now.step = h * (error > 1.0 && error - error == 0.0 ? fmax(0.1, 0.9 * pow(error, -0.2)) : 0.25);
    return m->now.step < least ? -1 : 0;
}

int NAME_advance(struct NAME_instance *m, double t, double length)
{
    const double end = t + length, least = 1e-14 * (1.0 + fabs(end));
    struct trial x;
    int attempts = 0, crossings = 0, loose = 0;
    int known = m->fresh_rates && !m->now.stale && m->now.row[NAME_at_t] == t;
    NAME_refresh(m);
    m->saved = m->now;
    m->now.since = t;
    NAME_inputs_at(m, m->now.row, t);
#if NAME_HAS_SWITCHES
    if (change_sides(m->now.row, 0)) known = 0; /* inputs may have jumped */
#endif
    if (known) memcpy(x.first, m->rates, sizeof x.first);
    while (end - m->now.row[NAME_at_t] > least) {
        const double rest = end - m->now.row[NAME_at_t];
        const double wanted = loose ? length / PIECES : m->now.step;
        double h = wanted < 0.99 * rest ? wanted : rest, grown, share = 2.0;
        int whole = h >= rest;
        if (++attempts > MOST) return failed(m, "too many steps; the last one was of length");
        if (!known && NAME_slope(m, m->now.row, x.first) < 0) return failed(m, "no accelerations: a singular position; step");
        known = 1;
        if (attempt(m, h, &x) || (!loose && !(x.error <= 1.0))) {
            if (shorter(m, h, x.error, least)) return failed(m, "the step became too short");
            continue;
        }
        grown = h * fmin(5.0, 0.9 * pow(fmax(x.error, 1e-10), -0.2));
#if NAME_HAS_SWITCHES
        share = loose ? 2.0 : first_crossing(m, &x, h);
        if (share <= 1.0 && ++crossings > CHATTER) { /* as with dry friction at rest: both sides lead back */
            NAME_report(m, NAME_warning, "a break point is crossed again and again: equal steps are taken across it", h, 0);
            loose = 1;
            known = 0;
            memset(m->now.row + NAME_at_sides, 0, NAME_nswitches * sizeof(double)); /* conditions as they are */
            continue;
        }
        if (share * h <= 10.0 * least) { /* at the beginning of the step */
            known = !change_sides(m->now.row, 1);
            continue;
        }
        if (share < 1.0) {
            h *= share;
            whole = 0;
            if (attempt(m, h, &x)) {
                if (shorter(m, h, x.error, least)) return failed(m, "the step became too short");
                continue;
            }
        }
#endif
        if (whole) NAME_inputs_at(m, x.row, end); /* no round-off in the time */
        if (NAME_project(m, x.row)) {
            if (shorter(m, h, INFINITY, least)) return failed(m, "the loops do not close; step");
            continue;
        }
        memcpy(m->now.row, x.row, sizeof x.row);
        NAME_count(m->now.row);
        m->now.step = whole && grown < m->now.step ? m->now.step : grown;
        known = 0;
#if NAME_HAS_SWITCHES
        if (share <= 1.0) change_sides(m->now.row, 0); /* one that was just missed is found again, closer */
#endif
        (void)share;
        (void)crossings;
    }
    if (loose) NAME_take_sides(m->now.row);
    m->now.row[NAME_at_t] = end;
    m->now.reached = end;
    m->fresh_rates = m->fresh_outputs = 0;
    return 0;
}
