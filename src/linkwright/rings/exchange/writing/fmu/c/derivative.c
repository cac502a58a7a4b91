/*
 * Derivatives of state derivatives and outputs by states, inputs, parameters and time: exact, through the tapes of the constants, the
 * rates and the outputs one after the other, or backwards.
 */
#include <string.h>
#include "NAME_core.h"

/* Place of a variable in the row, or -1: a parameter, or nothing that others depend on. */
static int place(unsigned reference)
{
    if (reference == 0) return NAME_at_t;
    if (reference < NAME_first_rate) return (int)reference - NAME_first_state;
    if (reference >= NAME_first_input && reference < NAME_first_parameter) return NAME_at_u + (int)reference - NAME_first_input;
    return -1;
}

static int prepared(struct NAME_instance *m, const unsigned *u, unsigned nu, const unsigned *k, unsigned nk)
{
    unsigned i;
    for (i = 0; i < nk; i++)
        if (place(k[i]) < 0 && !(k[i] >= NAME_first_parameter && k[i] < NAME_first_output)) {
            NAME_report(m, NAME_error, "derivatives are not taken by this variable, value reference", k[i], 0);
            return NAME_error;
        }
    for (i = 0; i < nu; i++)
        if (u[i] >= NAME_end || (u[i] >= NAME_first_input && u[i] < NAME_first_output)) {
            NAME_report(m, NAME_error, "this variable has no derivatives, value reference", u[i], 0);
            return NAME_error;
        }
    if (NAME_derivatives(m)) return NAME_discard;
    if (m->now.steady[NAME_steady - 1] != 0.0) {
        NAME_report(m, NAME_discard, "derivatives do not exist in a singular position", m->now.row[NAME_at_t], 0);
        return NAME_discard;
    }
    return NAME_ok;
}

static int reads_outputs(const unsigned *u, unsigned nu)
{
    unsigned i;
    for (i = 0; i < nu; i++)
        if (u[i] >= NAME_first_output && u[i] < NAME_first_switch) return 1;
    return 0;
}

static int reads_switches(const unsigned *u, unsigned nu)
{
    unsigned i;
    for (i = 0; i < nu; i++)
        if (u[i] >= NAME_first_switch) return 1;
    return 0;
}

/* Values of the outputs' tape at the present row. */
static void outputs_at(struct NAME_instance *m)
{
    memcpy(m->output_row, m->now.row, NAME_at_sides * sizeof(double));
    memcpy(m->output_row + NAME_at_sides, m->rates + NAME_nq, NAME_nv * sizeof(double));
    if (NAME_nlam) memcpy(m->output_row + NAME_at_sides + NAME_nv, m->rates + NAME_nstates, NAME_nlam * sizeof(double));
    NAME_values(&NAME_tape_outputs, m->output_row, m->outputs, m->work);
}

int NAME_tangent(struct NAME_instance *m, const unsigned *u, unsigned nu, const unsigned *k, unsigned nk, const double *dk, double *du)
{
    double row[NAME_row] = {0}, rates[NAME_rates_outputs], beyond[NAME_output_row], outputs[NAME_ROOM(NAME_noutputs)] = {0};
    double parameters[NAME_ROOM(NAME_nparameters)] = {0}, constants[NAME_ROOM(NAME_nconstants)], switches[NAME_ROOM(NAME_nswitches)] = {0};
    const int status = prepared(m, u, nu, k, nk);
    int changed = 0;
    unsigned i;
    if (status) return status;
    for (i = 0; i < nk; i++) {
        if (place(k[i]) >= 0) row[place(k[i])] += dk[i];
        else {
            parameters[k[i] - NAME_first_parameter] += dk[i];
            changed = 1;
        }
    }
    if (changed) {
        NAME_values(&NAME_tape_constants, m->now.parameters, constants, m->work);
        NAME_along(&NAME_tape_constants, parameters, row + NAME_at_constants, m->work, m->derivative);
    }
    NAME_values(&NAME_tape_rates, m->now.row, rates, m->work);
    NAME_along(&NAME_tape_rates, row, rates, m->work, m->derivative);
    if (reads_outputs(u, nu)) {
        outputs_at(m);
        memcpy(beyond, row, NAME_at_sides * sizeof(double));
        memcpy(beyond + NAME_at_sides, rates + NAME_nq, NAME_nv * sizeof(double));
        if (NAME_nlam) memcpy(beyond + NAME_at_sides + NAME_nv, rates + NAME_nstates, NAME_nlam * sizeof(double));
        NAME_along(&NAME_tape_outputs, beyond, outputs, m->work, m->derivative);
    }
    if (reads_switches(u, nu)) {
        NAME_values(&NAME_tape_switches, m->now.row, switches, m->work);
        NAME_along(&NAME_tape_switches, row, switches, m->work, m->derivative);
    }
    for (i = 0; i < nu; i++) {
        if (u[i] < NAME_first_rate) du[i] = row[place(u[i])];
        else if (u[i] < NAME_first_input) du[i] = rates[u[i] - NAME_first_rate];
        else du[i] = u[i] < NAME_first_switch ? outputs[u[i] - NAME_first_output] : switches[u[i] - NAME_first_switch];
    }
    return NAME_ok;
}

int NAME_adjoint(struct NAME_instance *m, const unsigned *u, unsigned nu, const unsigned *k, unsigned nk, const double *du, double *dk)
{
    double row[NAME_row] = {0}, rates[NAME_rates_outputs] = {0}, beyond[NAME_output_row] = {0}, outputs[NAME_ROOM(NAME_noutputs)] = {0};
    double parameters[NAME_ROOM(NAME_nparameters)] = {0}, constants[NAME_ROOM(NAME_nconstants)], values[NAME_rates_outputs];
    double switches[NAME_ROOM(NAME_nswitches)] = {0}, levels[NAME_ROOM(NAME_nswitches)];
    const int status = prepared(m, u, nu, k, nk);
    unsigned i;
    int j;
    if (status) return status;
    for (i = 0; i < nu; i++) {
        if (u[i] < NAME_first_rate) row[place(u[i])] += du[i];
        else if (u[i] < NAME_first_input) rates[u[i] - NAME_first_rate] += du[i];
        else if (u[i] < NAME_first_switch) outputs[u[i] - NAME_first_output] += du[i];
        else switches[u[i] - NAME_first_switch] += du[i];
    }
    if (reads_switches(u, nu)) {
        NAME_values(&NAME_tape_switches, m->now.row, levels, m->work);
        NAME_against(&NAME_tape_switches, switches, row, m->work, m->derivative);
    }
    if (reads_outputs(u, nu)) {
        outputs_at(m);
        NAME_against(&NAME_tape_outputs, outputs, beyond, m->work, m->derivative);
        for (j = 0; j < NAME_at_sides; j++) row[j] += beyond[j];
        for (j = 0; j < NAME_nv; j++) rates[NAME_nq + j] += beyond[NAME_at_sides + j];
        for (j = 0; j < NAME_nlam; j++) rates[NAME_nstates + j] += beyond[NAME_at_sides + NAME_nv + j];
    }
    NAME_values(&NAME_tape_rates, m->now.row, values, m->work);
    NAME_against(&NAME_tape_rates, rates, row, m->work, m->derivative);
    NAME_values(&NAME_tape_constants, m->now.parameters, constants, m->work);
    NAME_against(&NAME_tape_constants, row + NAME_at_constants, parameters, m->work, m->derivative);
    for (i = 0; i < nk; i++) dk[i] = place(k[i]) >= 0 ? row[place(k[i])] : parameters[k[i] - NAME_first_parameter];
    return NAME_ok;
}
