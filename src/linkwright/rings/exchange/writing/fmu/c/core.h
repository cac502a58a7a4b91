/*
 * An instance of the mechanism: its states, inputs, parameters and outputs, and what a simulator does with them. SI units, radians.
 *
 * The row that all compiled functions read:  [q v x  t  u  near  constants  sides]
 * q, v: positions and speeds of the joints; x: states of the drives; u: inputs; near: turns of cut joints, counted on;
 * constants: everything that depends on parameters alone; sides: which side of each break point (stop, kink of a law) holds.
 */
#ifndef NAME_CORE_H
#define NAME_CORE_H

#include "NAME.h"
#include "NAME_loops.h"

#define NAME_ROOM(n) ((n) > 0 ? (n) : 1)

enum { NAME_ok = 0, NAME_warning = 1, NAME_discard = 2, NAME_error = 3 };
enum { NAME_made, NAME_initializing, NAME_running };
enum { NAME_steady = NAME_nv + NAME_nlam + 3 };

/* Value references: 0 is time, then states, their derivatives, inputs, parameters, outputs, event indicators. */
enum {
    NAME_first_state = 1,
    NAME_first_rate = NAME_first_state + NAME_nstates,
    NAME_first_input = NAME_first_rate + NAME_nstates,
    NAME_first_parameter = NAME_first_input + NAME_nu,
    NAME_first_output = NAME_first_parameter + NAME_nparameters,
    NAME_first_switch = NAME_first_output + NAME_noutputs,
    NAME_end = NAME_first_switch + NAME_nswitches
};

struct NAME_memory { /* everything that changes: copied to get and set a state */
    double row[NAME_row], parameters[NAME_ROOM(NAME_nparameters)], inputs[NAME_ROOM(NAME_nu)], slopes[NAME_ROOM(NAME_nu)];
    double since, step, tolerance, reached;
    double steady[NAME_steady]; /* the last regular accelerations and multipliers, when, whether there are some; if it is singular */
    int given[NAME_nstates], mode, stale, open;
};

struct NAME_instance {
    struct NAME_memory now, saved;
    double rates[NAME_rates_outputs], outputs[NAME_ROOM(NAME_noutputs)], output_row[NAME_output_row];
    NAME_loop_Instance loop; /* what the loops work in */
    double *work, *derivative; /* room for the longest tape */
    int fresh_rates, fresh_outputs;
    void (*say)(void *, int status, const char *text);
    void *listener;
};

struct NAME_instance *NAME_new(void (*say)(void *, int, const char *), void *listener);
void NAME_delete(struct NAME_instance *m);
void NAME_reset(struct NAME_instance *m);
void NAME_report(struct NAME_instance *m, int status, const char *text, double value, const char *name);

/* Values by reference. */
int NAME_get(struct NAME_instance *m, unsigned reference, double *value);
int NAME_set(struct NAME_instance *m, unsigned reference, double value);

int NAME_initialize(struct NAME_instance *m);            /* closes the loops where start values or parameters changed */
int NAME_derivatives(struct NAME_instance *m);           /* m->rates at the present row */
int NAME_read(struct NAME_instance *m);                  /* m->outputs */
int NAME_advance(struct NAME_instance *m, double t, double h); /* co-simulation: from t to t + h, or nothing changes */
int NAME_completed(struct NAME_instance *m);             /* model exchange, after a step: 1 asks for an event */
int NAME_event(struct NAME_instance *m);                 /* model exchange: 1 if the states changed */
void NAME_indicators(struct NAME_instance *m, double *z);

/* Directional derivatives (du along dk) and adjoint ones (dk = weights du times derivatives); references as above. */
int NAME_tangent(struct NAME_instance *m, const unsigned *u, unsigned nu, const unsigned *k, unsigned nk, const double *dk, double *du);
int NAME_adjoint(struct NAME_instance *m, const unsigned *u, unsigned nu, const unsigned *k, unsigned nk, const double *du, double *dk);

/* Shared by the sources of an instance. */
int NAME_slope(struct NAME_instance *m, const double *row, double *y);
int NAME_project(struct NAME_instance *m, double *row);
void NAME_inputs_at(struct NAME_instance *m, double *row, double t);
void NAME_refresh(struct NAME_instance *m);
void NAME_tell_singular(struct NAME_instance *m);
void NAME_take_sides(double *row);
int NAME_cross(const double *row, const double *g);

#endif
