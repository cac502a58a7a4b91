/*
 * Co-simulation: a pair of Runge-Kutta methods with error control, a projection onto the loops after every step, and break points
 * (stops, kinks of laws) located inside steps. Inputs are continued by their slopes.
 */
#include <math.h>
#include <string.h>
#include "NAME_core.h"

#define CHATTER 100    /* break points in one communication step after which they are not looked for any more, */
#define PIECES 50      /* and the number of equal steps that are taken then */
#define MOST 200000    /* attempts in one communication step */

/* A step of length h from the present row into the trial; 0, or -1 where no accelerations exist on the way. */
static int attempt(struct NAME_instance *m, double h)
{
    const int status = NAME_loop_attempted(
        &m->loop, m->now.row, NAME_row, m->now.inputs, NAME_nu, m->now.slopes, NAME_nu, m->now.since, m->now.steady, NAME_steady,
        m->now.tolerance, h);
    NAME_tell_singular(m);
    return status;
}

#if NAME_HAS_SWITCHES
/* The state inside a step by Hermite's cubic. */
static void between(struct NAME_instance *m, double h, double share, double *row)
{
    const double *first = m->loop.k, *last = first + (NAME_stages - 1) * NAME_nstates;
    const double a = share * share * (3.0 - 2.0 * share), b = share * (1.0 - share) * (1.0 - share) * h, c = share * share * (share - 1.0) * h;
    int i;
    memcpy(row, m->now.row, NAME_row * sizeof(double));
    for (i = 0; i < NAME_nstates; i++)
        row[i] = (1.0 - a) * m->now.row[i] + a * m->loop.trial[i] + b * first[i] + c * last[i];
    NAME_inputs_at(m, row, m->now.row[NAME_at_t] + share * h);
}

/* Share of the step at which the first switching function leaves its side; 1 or more if none does. */
static double first_crossing(struct NAME_instance *m, double h)
{
    double g[NAME_nswitches], row[NAME_row], low = 0.0, high = 1.0;
    int k;
    NAME_switches(m->loop.trial, g);
    if (NAME_cross(m->loop.trial, g) < 0) return 2.0;
    for (k = 0; k < 60 && high - low > 1e-15; k++) {
        const double middle = 0.5 * (low + high);
        between(m, h, middle, row);
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
    NAME_loop_Instance *x = &m->loop;
    int attempts = 0, crossings = 0, loose = 0;
    int known = m->fresh_rates && !m->now.stale && m->now.row[NAME_at_t] == t;
    NAME_refresh(m);
    m->saved = m->now;
    m->now.since = t;
    NAME_inputs_at(m, m->now.row, t);
#if NAME_HAS_SWITCHES
    if (change_sides(m->now.row, 0)) known = 0; /* inputs may have jumped */
#endif
    if (known) memcpy(x->k, m->rates, NAME_nstates * sizeof(double));
    while (end - m->now.row[NAME_at_t] > least) {
        const double rest = end - m->now.row[NAME_at_t];
        const double wanted = loose ? length / PIECES : m->now.step;
        double h = wanted < 0.99 * rest ? wanted : rest, grown, share = 2.0;
        int whole = h >= rest;
        if (++attempts > MOST) return failed(m, "too many steps; the last one was of length");
        if (!known) {
            if (NAME_slope(m, m->now.row, x->slopes) < 0) return failed(m, "no accelerations: a singular position; step");
            memcpy(x->k, x->slopes, NAME_nstates * sizeof(double));
        }
        known = 1;
        if (attempt(m, h) || (!loose && !(x->error <= 1.0))) {
            if (shorter(m, h, x->error, least)) return failed(m, "the step became too short");
            continue;
        }
        grown = h * fmin(5.0, 0.9 * pow(fmax(x->error, 1e-10), -0.2));
#if NAME_HAS_SWITCHES
        share = loose ? 2.0 : first_crossing(m, h);
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
            if (attempt(m, h)) {
                if (shorter(m, h, x->error, least)) return failed(m, "the step became too short");
                continue;
            }
        }
#endif
        if (whole) NAME_inputs_at(m, x->trial, end); /* no round-off in the time */
        if (NAME_project(m, x->trial)) {
            if (shorter(m, h, INFINITY, least)) return failed(m, "the loops do not close; step");
            continue;
        }
        memcpy(m->now.row, x->trial, sizeof m->now.row);
        NAME_loop_count_on(x, m->now.row, NAME_row);
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
