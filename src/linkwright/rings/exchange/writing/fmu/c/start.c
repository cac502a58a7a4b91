/*
 * Consistent start: start values, inputs and parameters may have changed, and the loops are closed again. Drives of the model and states
 * that were set stay where they are, the rest follows on its branch: changes are made in steps that Newton's method can follow.
 */
#include <math.h>
#include <string.h>
#include "NAME_core.h"

static int is_closed(struct NAME_instance *m)
{
    const double off = NAME_nlam ? NAME_loop_off_loops(&m->loop, m->now.row, NAME_row) : 0.0;
    return off >= 0.0 && off < NAME_CLOSED_START;
}

/* Both ends of the way in a table of two rows. */
static void ends(double *table, const double *from, const double *to, int n)
{
    if (!n) return;
    memcpy(table, from, n * sizeof *table);
    memcpy(table + n, to, n * sizeof *table);
}

static int close_again(struct NAME_instance *m)
{
    NAME_loop_Way *w = &m->loop.way;
    int i;
    ends(w->states, NAME_start_states, m->now.row, NAME_nstates);
    ends(w->parameters, NAME_start_parameters, m->now.parameters, NAME_nparameters);
    ends(w->inputs, NAME_start_inputs, m->now.inputs, NAME_nu);
    i = NAME_loop_started(
        &m->loop, m->now.row, NAME_row, NAME_start_near, NAME_nnear, m->now.parameters, NAME_nparameters, m->now.inputs, NAME_nu,
        m->now.given, NAME_nstates);
    if (!i) {
        const double gap = NAME_loop_largest_row(&m->loop, NAME_nlam);
        NAME_report(
            m, NAME_error, "the loops cannot be closed with these start values and parameters; dimensionless gap at", gap,
            NAME_row_names[(int)w->worst]);
        return -1;
    }
    for (i = 0; i < NAME_nq; i++)
        if (m->now.given[i] && fabs(m->now.row[i] - w->states[NAME_nstates + i]) > 1e-6 * (NAME_nominal[i] + fabs(w->states[NAME_nstates + i])))
            NAME_report(m, NAME_warning, "the loops do not allow this start value; closed at", m->now.row[i], NAME_state_names[i]);
    return 0;
}

int NAME_initialize(struct NAME_instance *m)
{
    m->now.since = m->now.row[NAME_at_t];
    NAME_inputs_at(m, m->now.row, m->now.since);
    NAME_loop_drives_begin(&m->loop, m->now.row, NAME_row, m->now.inputs, NAME_nu, m->now.given, NAME_nstates);
    m->now.stale = 1;
    NAME_refresh(m);
    if (!is_closed(m) && close_again(m)) return -1;
    NAME_take_sides(m->now.row);
    NAME_loop_count_on(&m->loop, m->now.row, NAME_row);
    m->now.mode = NAME_running;
    m->fresh_rates = m->fresh_outputs = 0;
    return 0;
}
