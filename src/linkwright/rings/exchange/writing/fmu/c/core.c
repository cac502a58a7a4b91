/* An instance: its memory, values by reference, outputs and events. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "NAME_core.h"

#define DRIFT 1e-8    /* dimensionless gap of the loops from which model exchange asks for a projection */
#define BAND 1e-10    /* hysteresis of switching functions */
#define SIDE 1e300    /* added to a condition: it is taken for true or false, whatever its operands are */

struct NAME_instance *NAME_new(void (*say)(void *, int, const char *), void *listener)
{
    struct NAME_instance *m = calloc(1, sizeof *m);
    if (!m) return 0;
    m->work = calloc(NAME_longest_tape, sizeof(double));
    m->derivative = calloc(NAME_longest_tape, sizeof(double));
    m->say = say;
    m->listener = listener;
    NAME_loop_Instance_fill(&m->loop);
    m->loop.wide = NAME_WIDE;
    m->loop.narrow = NAME_NARROW;
    if (!m->work || !m->derivative) {
        NAME_delete(m);
        return 0;
    }
    NAME_reset(m);
    return m;
}

void NAME_delete(struct NAME_instance *m)
{
    if (!m) return;
    free(m->work);
    free(m->derivative);
    free(m);
}

void NAME_reset(struct NAME_instance *m)
{
    memset(&m->now, 0, sizeof m->now);
    memcpy(m->now.row, NAME_start_states, NAME_nstates * sizeof(double));
    if (NAME_nu) memcpy(m->now.inputs, NAME_start_inputs, NAME_nu * sizeof(double));
    if (NAME_nu) memcpy(m->now.row + NAME_at_u, NAME_start_inputs, NAME_nu * sizeof(double));
    if (NAME_nnear) memcpy(m->now.row + NAME_at_near, NAME_start_near, NAME_nnear * sizeof(double));
    if (NAME_nparameters) memcpy(m->now.parameters, NAME_start_parameters, NAME_nparameters * sizeof(double));
    m->now.tolerance = NAME_default_tolerance;
    m->now.step = 1e-3;
    m->now.stale = 1;
    m->fresh_rates = m->fresh_outputs = 0;
}

/* A message; value and name (may be 0) are put in for %g and %s. */
void NAME_report(struct NAME_instance *m, int status, const char *text, double value, const char *name)
{
    char line[400];
    char *c;
    if (!m->say) return;
    if (name) snprintf(line, sizeof line, "%s: %s (%.6g), t = %.6g s", text, name, value, m->now.row[NAME_at_t]);
    else snprintf(line, sizeof line, "%s (%.6g), t = %.6g s", text, value, m->now.row[NAME_at_t]);
    for (c = line; *c; c++)
        if (*c == '%') *c = '_'; /* simulators may read the text as a format */
    m->say(m->listener, status, line);
}

/* Constants of the present parameters. */
void NAME_refresh(struct NAME_instance *m)
{
    if (!m->now.stale) return;
    NAME_values(&NAME_tape_constants, m->now.parameters, m->now.row + NAME_at_constants, m->work);
    m->now.stale = 0;
    m->fresh_rates = m->fresh_outputs = 0;
}

void NAME_inputs_at(struct NAME_instance *m, double *row, double t)
{
    NAME_loop_inputs_at(&m->loop, row, NAME_row, m->now.inputs, NAME_nu, m->now.slopes, NAME_nu, m->now.since, t);
}

/* Derivatives of the states and multipliers at a row: 0, 1 near a singular position, -1 if there are none. */
int NAME_slope(struct NAME_instance *m, const double *row, double *y)
{
    const int status = NAME_loop_slope(&m->loop, row, NAME_row, m->now.steady, NAME_steady, y, NAME_nstates + NAME_nlam);
    NAME_tell_singular(m);
    return status;
}

/* A message where a singular position was met since the last one. */
void NAME_tell_singular(struct NAME_instance *m)
{
    if (m->loop.met > 0.0)
        NAME_report(
            m, NAME_warning, "near a singular position: accelerations are continued from before it", m->now.row[NAME_at_t], 0);
    m->loop.met = 0.0;
}

/* Back onto the loops and prescribed motions. Returns 0, or -1 if they do not close. */
int NAME_project(struct NAME_instance *m, double *row)
{
    return NAME_nlam || NAME_nquaternions ? NAME_loop_projected(&m->loop, row, NAME_row) : 0;
}

/* -------------------------------------------------------------------- values */

int NAME_derivatives(struct NAME_instance *m)
{
    NAME_refresh(m);
    if (m->fresh_rates) return 0;
    if (NAME_slope(m, m->now.row, m->rates) < 0) {
        NAME_report(m, NAME_discard, "no accelerations: a singular position, or values that are not finite", m->now.row[NAME_at_t], 0);
        return -1;
    }
    m->fresh_rates = 1;
    return 0;
}

int NAME_read(struct NAME_instance *m)
{
    if (m->fresh_outputs) return 0;
    if (NAME_derivatives(m)) return -1;
    memcpy(m->output_row, m->now.row, NAME_at_sides * sizeof(double));
    memcpy(m->output_row + NAME_at_sides, m->rates + NAME_nq, NAME_nv * sizeof(double));
    if (NAME_nlam) memcpy(m->output_row + NAME_at_sides + NAME_nv, m->rates + NAME_nstates, NAME_nlam * sizeof(double));
    if (NAME_channels(m->output_row, m->outputs)) {
        NAME_report(m, NAME_discard, "an output is not finite", m->now.row[NAME_at_t], 0);
        return -1;
    }
    m->fresh_outputs = 1;
    return 0;
}

int NAME_get(struct NAME_instance *m, unsigned reference, double *value)
{
    const int r = reference < NAME_end ? (int)reference : NAME_end;
    if (r == 0) *value = m->now.row[NAME_at_t];
    else if (r < NAME_first_rate) *value = m->now.row[r - NAME_first_state];
    else if (r < NAME_first_input) {
        if (NAME_derivatives(m)) return NAME_discard;
        *value = m->rates[r - NAME_first_rate];
    } else if (r < NAME_first_parameter) *value = m->now.inputs[r - NAME_first_input];
    else if (r < NAME_first_output) *value = m->now.parameters[r - NAME_first_parameter];
    else if (r < NAME_first_switch) {
        if (NAME_read(m)) return NAME_discard;
        *value = m->outputs[r - NAME_first_output];
    } else if (r < NAME_end) {
        double z[NAME_ROOM(NAME_nswitches)];
        NAME_indicators(m, z);
        *value = z[r - NAME_first_switch];
    } else {
        NAME_report(m, NAME_error, "there is no variable of this value reference", reference, 0);
        return NAME_error;
    }
    return NAME_ok;
}

int NAME_set(struct NAME_instance *m, unsigned reference, double value)
{
    const int r = reference < NAME_end ? (int)reference : NAME_end;
    if (value - value != 0.0) {
        NAME_report(m, NAME_error, "a value that is not finite was set, value reference", reference, 0);
        return NAME_error;
    }
    m->fresh_rates = m->fresh_outputs = 0;
    if (r >= NAME_first_state && r < NAME_first_rate) {
        m->now.row[r - NAME_first_state] = value;
        if (m->now.mode != NAME_running) m->now.given[r - NAME_first_state] = 1;
    } else if (r >= NAME_first_input && r < NAME_first_parameter) {
        const int i = r - NAME_first_input;
        m->now.inputs[i] = m->now.row[NAME_at_u + i] = value;
        m->now.slopes[i] = 0.0;
    } else if (r >= NAME_first_parameter && r < NAME_first_output) {
        const int i = r - NAME_first_parameter;
        if (m->now.mode == NAME_running && NAME_fixed[i] && value != m->now.parameters[i]) {
            NAME_report(m, NAME_error, "this parameter is fixed and can be set before the start only", value, NAME_parameter_names[i]);
            return NAME_error;
        }
        m->now.parameters[i] = value;
        m->now.stale = 1;
    } else {
        NAME_report(m, NAME_error, "this variable cannot be set, value reference", reference, 0);
        return NAME_error;
    }
    return NAME_ok;
}

/* -------------------------------------------------------------------- events */

/* The first switching function that has left its side by more than the band, or -1. */
int NAME_cross(const double *row, const double *g)
{
    int i;
    for (i = 0; i < NAME_nswitches; i++)
        if (row[NAME_at_sides + i] > 0.0 ? g[i] <= -BAND : g[i] >= BAND) return i;
    return -1;
}

void NAME_take_sides(double *row)
{
#if NAME_HAS_SWITCHES
    double g[NAME_nswitches];
    int i;
    NAME_switches(row, g);
    for (i = 0; i < NAME_nswitches; i++) row[NAME_at_sides + i] = g[i] > 0.0 ? SIDE : -SIDE;
#else
    (void)row;
#endif
}

void NAME_indicators(struct NAME_instance *m, double *z)
{
    int i;
    NAME_refresh(m);
#if NAME_HAS_SWITCHES
    NAME_switches(m->now.row, z);
#endif
    for (i = 0; i < NAME_nswitches; i++) z[i] += m->now.row[NAME_at_sides + i] > 0.0 ? BAND : -BAND;
}

int NAME_completed(struct NAME_instance *m)
{
    double off;
    NAME_refresh(m);
    NAME_loop_count_on(&m->loop, m->now.row, NAME_row);
    if (!NAME_nlam && !NAME_nquaternions) return 0;
    off = NAME_loop_off_loops(&m->loop, m->now.row, NAME_row);
    if (off < 0.0) return 0; /* near a singular position: later */
    m->now.open = off > fmin(1e-5, fmax(DRIFT, m->now.tolerance));
    return m->now.open;
}

int NAME_event(struct NAME_instance *m)
{
    int changed = 0;
    NAME_refresh(m);
    if (m->now.open) {
        m->now.open = 0;
        if (NAME_project(m, m->now.row) < 0) {
            NAME_report(m, NAME_error, "the loops do not close any more", m->now.row[NAME_at_t], 0);
            return -1;
        }
        changed = 1;
    }
#if NAME_HAS_SWITCHES
    {
        double g[NAME_nswitches];
        int i;
        NAME_switches(m->now.row, g);
        for (i = 0; i < NAME_nswitches; i++) {
            double *side = m->now.row + NAME_at_sides + i;
            if (*side > 0.0 ? g[i] <= -0.5 * BAND : g[i] >= 0.5 * BAND) *side = -*side; /* also just before the zero */
        }
    }
#endif
    m->fresh_rates = m->fresh_outputs = 0;
    return changed;
}
