/* FMI 3.0 for model exchange and co-simulation: the functions of the standard around an instance. */
#include <stdlib.h>
#include <string.h>
#include "NAME_core.h"
#include "NAME_fmi3.h"

struct unit {
    struct NAME_instance *m;
    Logger log;
    Environment environment;
    int logging;
};
#define M(i) (((struct unit *)(i))->m)

static void tell(void *listener, int status, const char *text)
{
    static const char *const category[] = {"logAll", "logStatusWarning", "logStatusDiscard", "logStatusError"};
    struct unit *x = listener;
    if (x->log && (x->logging || status >= NAME_error)) x->log(x->environment, (Status)status, category[status], text);
}

static Instance made(String token, bool logging, Environment environment, Logger log)
{
    struct unit *x;
    if (!token || strcmp(token, NAME_TOKEN)) {
        if (log) log(environment, Error, "logStatusError", "the instantiation token is not that of this model");
        return 0;
    }
    x = calloc(1, sizeof *x);
    if (!x) return 0;
    x->log = log;
    x->environment = environment;
    x->logging = logging;
    x->m = NAME_new(tell, x);
    if (!x->m) {
        free(x);
        return 0;
    }
    return x;
}

EXPORT const char *FMI(fmi3GetVersion)(void)
{
    return "3.0";
}

EXPORT Status FMI(fmi3SetDebugLogging)(Instance i, bool on, size_t n, const String categories[])
{
    (void)n;
    (void)categories;
    ((struct unit *)i)->logging = on;
    return OK;
}

EXPORT Instance FMI(fmi3InstantiateModelExchange)(
    String name, String token, String resources, bool visible, bool logging, Environment environment, Logger log)
{
    (void)name;
    (void)resources;
    (void)visible;
    return made(token, logging, environment, log);
}

EXPORT Instance FMI(fmi3InstantiateCoSimulation)(
    String name, String token, String resources, bool visible, bool logging, bool events, bool early, const Reference intermediate[],
    size_t n_intermediate, Environment environment, Logger log, Update update)
{
    (void)name;
    (void)resources;
    (void)visible;
    (void)events;
    (void)early;
    (void)intermediate;
    (void)n_intermediate;
    (void)update;
    return made(token, logging, environment, log);
}

EXPORT Instance FMI(fmi3InstantiateScheduledExecution)(
    String name, String token, String resources, bool visible, bool logging, Environment environment, Logger log, void (*clock)(Environment),
    void (*lock)(void), void (*unlock)(void))
{
    (void)name;
    (void)token;
    (void)resources;
    (void)visible;
    (void)logging;
    (void)clock;
    (void)lock;
    (void)unlock;
    if (log) log(environment, Error, "logStatusError", "scheduled execution is not provided; use model exchange or co-simulation");
    return 0;
}

EXPORT void FMI(fmi3FreeInstance)(Instance i)
{
    if (!i) return;
    NAME_delete(M(i));
    free(i);
}

EXPORT Status FMI(fmi3EnterInitializationMode)(Instance i, bool defined, double tolerance, double start, bool stop_defined, double stop)
{
    (void)stop_defined;
    (void)stop;
    if (defined && tolerance > 0.0) M(i)->now.tolerance = tolerance < 1e-12 ? 1e-12 : tolerance > 1e-3 ? 1e-3 : tolerance;
    M(i)->now.row[NAME_at_t] = start;
    M(i)->now.mode = NAME_initializing;
    M(i)->fresh_rates = M(i)->fresh_outputs = 0;
    return OK;
}

EXPORT Status FMI(fmi3ExitInitializationMode)(Instance i)
{
    return NAME_initialize(M(i)) ? Error : OK;
}

EXPORT Status FMI(fmi3Reset)(Instance i)
{
    NAME_reset(M(i));
    return OK;
}

/* Modes in which nothing happens by itself. */
#define NOTHING(FUNCTION) \
    EXPORT Status FMI(FUNCTION)(Instance i) \
    { \
        (void)i; \
        return OK; \
    }
NOTHING(fmi3EnterEventMode)
NOTHING(fmi3Terminate)
NOTHING(fmi3EnterConfigurationMode)
NOTHING(fmi3ExitConfigurationMode)
NOTHING(fmi3EvaluateDiscreteStates)
NOTHING(fmi3EnterContinuousTimeMode)
NOTHING(fmi3EnterStepMode)

EXPORT Status FMI(fmi3GetFloat64)(Instance i, const Reference r[], size_t n, double v[], size_t nv)
{
    size_t k;
    if (nv != n) return Error;
    for (k = 0; k < n; k++) {
        const int status = NAME_get(M(i), r[k], v + k);
        if (status) return (Status)status;
    }
    return OK;
}

EXPORT Status FMI(fmi3SetFloat64)(Instance i, const Reference r[], size_t n, const double v[], size_t nv)
{
    size_t k;
    if (nv != n) return Error;
    for (k = 0; k < n; k++) {
        const int status = NAME_set(M(i), r[k], v[k]);
        if (status) return (Status)status;
    }
    return OK;
}

EXPORT Status FMI(fmi3GetFMUState)(Instance i, StateOfUnit *s)
{
    if (!*s) *s = malloc(sizeof(struct NAME_memory));
    if (!*s) return Error;
    memcpy(*s, &M(i)->now, sizeof(struct NAME_memory));
    return OK;
}

EXPORT Status FMI(fmi3SetFMUState)(Instance i, StateOfUnit s)
{
    if (!s) return Error;
    memcpy(&M(i)->now, s, sizeof(struct NAME_memory));
    M(i)->fresh_rates = M(i)->fresh_outputs = 0;
    return OK;
}

EXPORT Status FMI(fmi3FreeFMUState)(Instance i, StateOfUnit *s)
{
    (void)i;
    if (s) {
        free(*s);
        *s = 0;
    }
    return OK;
}

EXPORT Status FMI(fmi3SerializedFMUStateSize)(Instance i, StateOfUnit s, size_t *n)
{
    (void)i;
    (void)s;
    *n = sizeof(struct NAME_memory);
    return OK;
}

EXPORT Status FMI(fmi3SerializeFMUState)(Instance i, StateOfUnit s, uint8_t b[], size_t n)
{
    (void)i;
    if (!s || n < sizeof(struct NAME_memory)) return Error;
    memcpy(b, s, sizeof(struct NAME_memory));
    return OK;
}

EXPORT Status FMI(fmi3DeserializeFMUState)(Instance i, const uint8_t b[], size_t n, StateOfUnit *s)
{
    (void)i;
    if (n != sizeof(struct NAME_memory)) return Error;
    if (!*s) *s = malloc(n);
    if (!*s) return Error;
    memcpy(*s, b, n);
    return OK;
}

EXPORT Status FMI(fmi3GetDirectionalDerivative)(
    Instance i, const Reference u[], size_t nu, const Reference k[], size_t nk, const double seed[], size_t n_seed, double out[], size_t n_out)
{
    if (n_seed != nk || n_out != nu) return Error;
    return (Status)NAME_tangent(M(i), u, (unsigned)nu, k, (unsigned)nk, seed, out);
}

EXPORT Status FMI(fmi3GetAdjointDerivative)(
    Instance i, const Reference u[], size_t nu, const Reference k[], size_t nk, const double seed[], size_t n_seed, double out[], size_t n_out)
{
    if (n_seed != nu || n_out != nk) return Error;
    return (Status)NAME_adjoint(M(i), u, (unsigned)nu, k, (unsigned)nk, seed, out);
}

EXPORT Status FMI(fmi3UpdateDiscreteStates)(
    Instance i, bool *again, bool *terminate, bool *nominals, bool *values, bool *next_defined, double *next)
{
    const int changed = NAME_event(M(i));
    *again = *terminate = *nominals = *next_defined = false;
    *next = 0.0;
    *values = changed > 0;
    return changed < 0 ? Error : OK;
}

/* -------------------------------------------------------------------- model exchange */

EXPORT Status FMI(fmi3CompletedIntegratorStep)(Instance i, bool no_set, bool *enter, bool *terminate)
{
    (void)no_set;
    *terminate = false;
    *enter = NAME_completed(M(i)) != 0;
    return OK;
}

EXPORT Status FMI(fmi3SetTime)(Instance i, double t)
{
    M(i)->now.row[NAME_at_t] = M(i)->now.since = t;
    M(i)->fresh_rates = M(i)->fresh_outputs = 0;
    return OK;
}

EXPORT Status FMI(fmi3SetContinuousStates)(Instance i, const double x[], size_t n)
{
    if (n != NAME_nstates) return Error;
    memcpy(M(i)->now.row, x, n * sizeof *x);
    M(i)->fresh_rates = M(i)->fresh_outputs = 0;
    return OK;
}

EXPORT Status FMI(fmi3GetContinuousStateDerivatives)(Instance i, double d[], size_t n)
{
    if (n != NAME_nstates) return Error;
    if (NAME_derivatives(M(i))) return Discard;
    memcpy(d, M(i)->rates, n * sizeof *d);
    return OK;
}

EXPORT Status FMI(fmi3GetEventIndicators)(Instance i, double z[], size_t n)
{
    if (n != NAME_nswitches) return Error;
    NAME_indicators(M(i), z);
    return OK;
}

EXPORT Status FMI(fmi3GetContinuousStates)(Instance i, double x[], size_t n)
{
    if (n != NAME_nstates) return Error;
    memcpy(x, M(i)->now.row, n * sizeof *x);
    return OK;
}

EXPORT Status FMI(fmi3GetNominalsOfContinuousStates)(Instance i, double x[], size_t n)
{
    (void)i;
    if (n != NAME_nstates) return Error;
    memcpy(x, NAME_nominal, n * sizeof *x);
    return OK;
}

EXPORT Status FMI(fmi3GetNumberOfEventIndicators)(Instance i, size_t *n)
{
    (void)i;
    *n = NAME_nswitches;
    return OK;
}

EXPORT Status FMI(fmi3GetNumberOfContinuousStates)(Instance i, size_t *n)
{
    (void)i;
    *n = NAME_nstates;
    return OK;
}

/* -------------------------------------------------------------------- co-simulation */

EXPORT Status FMI(fmi3GetOutputDerivatives)(Instance i, const Reference r[], size_t n, const int32_t order[], double v[], size_t nv)
{
    (void)r;
    (void)order;
    (void)v;
    (void)nv;
    if (n) NAME_report(M(i), NAME_error, "derivatives of outputs are not provided", 0.0, 0);
    return n ? Error : OK;
}

EXPORT Status FMI(fmi3DoStep)(Instance i, double t, double h, bool no_set, bool *event, bool *terminate, bool *early, double *last)
{
    int failed;
    (void)no_set;
    *event = *terminate = *early = false;
    *last = t;
    if (M(i)->now.mode != NAME_running) {
        NAME_report(M(i), NAME_error, "a step was asked for before the initialization was ended", t, 0);
        return Error;
    }
    if (!(h >= 0.0) || t + h - (t + h) != 0.0) {
        NAME_report(M(i), NAME_error, "the length of a step is finite and not negative", h, 0);
        return Error;
    }
    failed = NAME_advance(M(i), t, h);
    *last = failed ? t : t + h;
    return failed ? Discard : OK;
}

EXPORT Status FMI(fmi3ActivateModelPartition)(Instance i, Reference r, double t)
{
    (void)i;
    (void)r;
    (void)t;
    return Error;
}
