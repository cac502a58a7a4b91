/* FMI 3.0 for model exchange and co-simulation: what this version has of its own, and the functions of unit.h under its names. */
#include <stdlib.h>
#include <string.h>
#include "NAME_core.h"
#include "NAME_fmi3.h"

#define VERSION "3.0"
#define GetNumbers GetFloat64
#define SetNumbers SetFloat64
#define GetState GetFMUState
#define SetState SetFMUState
#define FreeState FreeFMUState
#define SerializedStateSize SerializedFMUStateSize
#define SerializeState SerializeFMUState
#define DeserializeState DeserializeFMUState
#define GetRates GetContinuousStateDerivatives
#define GetRatesOfOutputs GetOutputDerivatives

struct unit {
    struct NAME_instance *m;
    Logger log;
    Environment environment;
    int logging;
};

static void send(struct unit *x, Status status, const char *category, const char *text)
{
    if (x->log) x->log(x->environment, status, category, text);
}

#include "NAME_unit.h"

NOTHING(EnterConfigurationMode)
NOTHING(ExitConfigurationMode)
NOTHING(EvaluateDiscreteStates)
NOTHING(EnterStepMode)

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

EXPORT Instance F(InstantiateModelExchange)(
    String name, String token, String resources, bool visible, bool logging, Environment environment, Logger log)
{
    (void)name;
    (void)resources;
    (void)visible;
    return made(token, logging, environment, log);
}

EXPORT Instance F(InstantiateCoSimulation)(
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

EXPORT Instance F(InstantiateScheduledExecution)(
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

EXPORT void F(FreeInstance)(Instance i)
{
    if (!i) return;
    NAME_delete(M(i));
    free(i);
}

EXPORT Status F(EnterInitializationMode)(Instance i, bool defined, double tolerance, double start, bool stop_defined, double stop)
{
    (void)stop_defined;
    (void)stop;
    set_up(i, defined, tolerance, start);
    return initializing(i);
}

EXPORT Status F(GetAdjointDerivative)(
    Instance i, const Reference u[], size_t nu, const Reference k[], size_t nk, const double seed[], size_t n_seed, double out[], size_t n_out)
{
    if (n_seed != nu || n_out != nk) return Error;
    return (Status)NAME_adjoint(M(i), u, (unsigned)nu, k, (unsigned)nk, seed, out);
}

EXPORT Status F(UpdateDiscreteStates)(
    Instance i, bool *again, bool *terminate, bool *nominals, bool *values, bool *next_defined, double *next)
{
    const int changed = NAME_event(M(i));
    *again = *terminate = *nominals = *next_defined = false;
    *next = 0.0;
    *values = changed > 0;
    return changed < 0 ? Error : OK;
}

EXPORT Status F(GetNumberOfEventIndicators)(Instance i, size_t *n)
{
    (void)i;
    *n = NAME_nswitches;
    return OK;
}

EXPORT Status F(GetNumberOfContinuousStates)(Instance i, size_t *n)
{
    (void)i;
    *n = NAME_nstates;
    return OK;
}

EXPORT Status F(DoStep)(Instance i, double t, double h, bool no_set, bool *event, bool *terminate, bool *early, double *last)
{
    const Status status = stepped(i, t, h);
    (void)no_set;
    *event = *terminate = *early = false;
    *last = status == OK ? t + h : t;
    return status;
}

EXPORT Status F(ActivateModelPartition)(Instance i, Reference r, double t)
{
    (void)i;
    (void)r;
    (void)t;
    return Error;
}
