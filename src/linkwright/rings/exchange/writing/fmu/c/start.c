/*
 * Consistent start: start values, inputs and parameters may have changed, and the loops are closed again. Drives of the model and states
 * that were set stay where they are, the rest follows on its branch: changes are made in steps that Newton's method can follow.
 */
#include <math.h>
#include <string.h>
#include "NAME_core.h"

#define LONGEST 0.3    /* dimensionless first step that Newton's method may take */
#define SHORTEST 1e-4  /* share of the change below which it is given up */
#define KEEP 1e6       /* weight of a state that was set against one that was not */
#define STIFF 1e12     /* weight of the loops */

struct way { /* from the start as exported to what is asked for */
    double states[2][NAME_nstates], parameters[2][NAME_ROOM(NAME_nparameters)], inputs[2][NAME_ROOM(NAME_nu)];
    double held[2][2 * NAME_ROOM(NAME_nheld)];
    int rows, all; /* rows that count; whether all positions that were set hold, or those of drives only */
};

/* States of drives that begin at an input, or where a coordinate was set to. */
static void drives_begin(struct NAME_instance *m)
{
    int i;
    for (i = 0; i < NAME_nx; i++) {
        if (m->now.given[NAME_at_x + i]) continue;
        if (NAME_follows[i] >= 0) m->now.row[NAME_at_x + i] = m->now.inputs[NAME_follows[i]];
        else if (NAME_copies[i] >= 0 && m->now.given[NAME_copies[i]]) m->now.row[NAME_at_x + i] = m->now.row[NAME_copies[i]];
    }
}

static int moves_a_drive(int state)
{
    int i;
    for (i = 0; i < NAME_nx; i++)
        if (NAME_copies[i] == state) return 1;
    return state >= NAME_nq;
}

/* The row at a share of the way; dependent positions stay. */
static void set_out(struct NAME_instance *m, const struct way *w, double share)
{
    int i;
    for (i = 0; i < NAME_nstates; i++)
        if (m->now.given[i] && (w->all || moves_a_drive(i))) m->now.row[i] = w->states[0][i] + share * (w->states[1][i] - w->states[0][i]);
    for (i = 0; i < NAME_nparameters; i++) m->now.parameters[i] = w->parameters[0][i] + share * (w->parameters[1][i] - w->parameters[0][i]);
    for (i = 0; i < NAME_nu; i++) {
        m->now.inputs[i] = w->inputs[0][i] + share * (w->inputs[1][i] - w->inputs[0][i]);
        m->now.row[NAME_at_u + i] = m->now.inputs[i];
    }
    drives_begin(m);
    m->now.stale = 1;
    NAME_refresh(m);
    memset(m->closing_row, 0, sizeof m->closing_row);
    for (i = 0; i < 2 * NAME_nheld; i++)
        m->closing_row[NAME_closing_row - 2 * NAME_nheld + i] = w->held[0][i] + share * (w->held[1][i] - w->held[0][i]);
}

/* Of every velocity whether its state was set: `speeds` asks for the velocities themselves, else for positions. */
static int was_given(const struct NAME_instance *m, int i, int speeds)
{
    return m->now.given[speeds ? NAME_nq + i : NAME_velocity_state[i]];
}

/* Solve for the shortest change that closes the gaps of `rows` rows, weighed; returns its largest entry, negative if it fails. */
static double correction(struct NAME_instance *m, const struct way *w, const double *gap, int speeds, double *x)
{
    const int rows = w->rows;
    const double *J = m->closing + NAME_closing_J;
    double size = 0.0;
    int i, j, r;
    for (i = 0; i < NAME_nv; i++) {
        for (j = 0; j <= i; j++) {
            double s = i == j ? ((w->all || speeds) && was_given(m, i, speeds) ? KEEP : 1.0) : 0.0;
            for (r = 0; r < rows; r++)
                s += STIFF * J[r * NAME_nv + i] * J[r * NAME_nv + j] * NAME_column_scale[i] * NAME_column_scale[j] /
                     (NAME_row_scale[r] * NAME_row_scale[r]);
            m->matrix[i * NAME_nv + j] = s;
        }
        x[i] = 0.0;
        for (r = 0; r < rows; r++)
            x[i] -= STIFF * J[r * NAME_nv + i] * NAME_column_scale[i] * gap[r] / (NAME_row_scale[r] * NAME_row_scale[r]);
    }
    if (!NAME_loop_factored(m->matrix, NAME_nv, NAME_nv)) return -1.0;
    NAME_loop_substituted(m->matrix, NAME_nv, NAME_nv, x, NAME_nv);
    for (i = 0; i < NAME_nv; i++) {
        size = fmax(size, fabs(x[i]));
        x[i] *= NAME_column_scale[i];
    }
    return size - size == 0.0 ? size : -1.0;
}

static void evaluate(struct NAME_instance *m)
{
    memcpy(m->closing_row, m->now.row, NAME_at_sides * sizeof(double));
    NAME_values(&NAME_tape_closing, m->closing_row, m->closing, m->work);
}

static double largest_gap(const struct NAME_instance *m, int rows, int *which)
{
    double gap = 0.0;
    int r;
    for (r = 0; r < rows; r++) {
        const double x = fabs(m->closing[NAME_closing_phi + r]) / NAME_row_scale[r];
        if (!(x <= gap)) {
            gap = x;
            *which = r;
        }
    }
    return gap;
}

/* Newton's method for the positions at the present row: 1 if they close without a long step. */
static int closed(struct NAME_instance *m, const struct way *w)
{
    double before = 0.0, x[NAME_nv], q[NAME_nq], probe[NAME_row];
    int round, which = 0;
    for (round = 0; round < 40; round++) {
        double gap, size;
        evaluate(m);
        gap = largest_gap(m, w->rows, &which);
        if (gap < 1e-14) return 1;
        size = correction(m, w, m->closing + NAME_closing_phi, 0, x);
        if (size < 0.0 || size > LONGEST) return gap < NAME_CLOSED_AT_BEST;
        if (round && size > 0.5 * before) return gap < NAME_CLOSED_AT_BEST; /* round-off stops it, or it does not converge */
        before = size;
        memcpy(probe, m->now.row, sizeof probe);
        memcpy(probe + NAME_nq, x, sizeof x);
        NAME_moved(probe, q);
        memcpy(m->now.row, q, sizeof q);
        NAME_count(m->now.row);
    }
    return 0;
}

static int walked(struct NAME_instance *m, const struct way *w)
{
    double share = 0.0, step = 1.0, before[NAME_row];
    while (share < 1.0) {
        const double next = share + step < 1.0 ? share + step : 1.0;
        memcpy(before, m->now.row, sizeof before);
        set_out(m, w, next);
        if (closed(m, w)) {
            step = 2.0 * step;
            share = next;
            continue;
        }
        memcpy(m->now.row, before, sizeof before);
        step *= 0.5;
        if (step < SHORTEST) return 0;
    }
    return 1;
}

/* Speeds on the loops, as near as possible to those given. */
static void settle_speeds(struct NAME_instance *m, const struct way *w)
{
    double gap[NAME_ROOM(NAME_nlam + NAME_nheld)], x[NAME_nv];
    int i, r, round;
    for (round = 0; round < 3; round++) {
        evaluate(m);
        for (r = 0; r < w->rows; r++) {
            gap[r] = m->closing[NAME_closing_b + r];
            for (i = 0; i < NAME_nv; i++) gap[r] += m->closing[NAME_closing_J + r * NAME_nv + i] * m->now.row[NAME_nq + i];
        }
        if (correction(m, w, gap, 1, x) < 0.0) return;
        for (i = 0; i < NAME_nv; i++) m->now.row[NAME_nq + i] += x[i];
    }
}

static void find_held(struct NAME_instance *m, const double *states, double *out)
{
#if NAME_HAS_HELD
    double row[NAME_row];
    memcpy(row, m->now.row, sizeof row);
    memcpy(row, states, NAME_nstates * sizeof(double));
    NAME_held(row, out);
#else
    (void)m;
    (void)states;
    (void)out;
#endif
}

static int is_closed(struct NAME_instance *m)
{
    double y[NAME_projection_outputs], fast = 1.0;
    int i;
    if (!NAME_nlam) return 1;
    for (i = 0; i < NAME_nv; i++) fast = fmax(fast, fabs(m->now.row[NAME_nq + i]));
    return !NAME_projection(m->now.row, y) && y[NAME_nq + NAME_nv] < NAME_CLOSED_START && y[NAME_nq + NAME_nv + 1] < NAME_CLOSED_START * fast;
}

static int close_again(struct NAME_instance *m)
{
    struct way *w = &(struct way){0};
    double wanted[NAME_row];
    int i, attempt, which = 0;
    memcpy(wanted, m->now.row, sizeof wanted);
    memcpy(w->states[0], NAME_start_states, sizeof w->states[0]);
    memcpy(w->states[1], m->now.row, sizeof w->states[1]);
    if (NAME_nparameters) memcpy(w->parameters[0], NAME_start_parameters, NAME_nparameters * sizeof(double));
    memcpy(w->parameters[1], m->now.parameters, sizeof w->parameters[1]);
    if (NAME_nu) memcpy(w->inputs[0], NAME_start_inputs, NAME_nu * sizeof(double));
    memcpy(w->inputs[1], m->now.inputs, sizeof w->inputs[1]);
    set_out(m, w, 0.0); /* constants of the model as exported: where its drives are */
    find_held(m, w->states[0], w->held[0]);
    find_held(m, w->states[1], w->held[1]);
    for (attempt = 0; attempt < 3; attempt++) { /* everything that was set holds; drives only; the drives let go as well */
        w->all = attempt == 0;
        w->rows = attempt < 2 ? NAME_nlam + NAME_nheld : NAME_nlam;
        memcpy(m->now.row, NAME_start_states, NAME_nstates * sizeof(double));
        if (NAME_nnear) memcpy(m->now.row + NAME_at_near, NAME_start_near, NAME_nnear * sizeof(double));
        if (walked(m, w)) break;
    }
    if (attempt == 3) {
        double gap;
        memcpy(m->now.row, wanted, sizeof wanted);
        w->all = 1;
        set_out(m, w, 1.0);
        evaluate(m);
        gap = largest_gap(m, NAME_nlam, &which);
        NAME_report(
            m, NAME_error, "the loops cannot be closed with these start values and parameters; dimensionless gap at", gap,
            NAME_row_names[which]);
        return -1;
    }
    memcpy(m->now.row + NAME_nq, w->states[1] + NAME_nq, NAME_nv * sizeof(double));
    settle_speeds(m, w);
    for (i = 0; i < NAME_nq; i++)
        if (m->now.given[i] && fabs(m->now.row[i] - w->states[1][i]) > 1e-6 * (NAME_nominal[i] + fabs(w->states[1][i])))
            NAME_report(m, NAME_warning, "the loops do not allow this start value; closed at", m->now.row[i], NAME_state_names[i]);
    return 0;
}

int NAME_initialize(struct NAME_instance *m)
{
    m->now.since = m->now.row[NAME_at_t];
    NAME_inputs_at(m, m->now.row, m->now.since);
    drives_begin(m);
    m->now.stale = 1;
    NAME_refresh(m);
    if (!is_closed(m) && close_again(m)) return -1;
    NAME_take_sides(m->now.row);
    NAME_count(m->now.row);
    m->now.mode = NAME_running;
    m->fresh_rates = m->fresh_outputs = 0;
    return 0;
}
