/* FMI 2.0 for model exchange and co-simulation: what this version has of its own, and the functions of unit.h under its names. */
#include <stdlib.h>
#include <string.h>
#include "NAME_core.h"
#include "NAME_export.h"

#ifdef FMI2_FUNCTION_PREFIX
#define F(name) PREFIXED(FMI2_FUNCTION_PREFIX, PREFIXED(fmi2, name))
#else
#define F(name) PREFIXED(fmi2, name)
#endif
#define VERSION "2.0"
#define COUNT(n)
#define SAME(n, m)
#define UNUSED(n)
#define GetNumbers GetReal
#define SetNumbers SetReal
#define GetState GetFMUstate
#define SetState SetFMUstate
#define FreeState FreeFMUstate
#define SerializedStateSize SerializedFMUstateSize
#define SerializeState SerializeFMUstate
#define DeserializeState DeSerializeFMUstate
#define GetRates GetDerivatives
#define GetRatesOfOutputs GetRealOutputDerivatives

/* Types of the standard. */
typedef void *Instance;
typedef unsigned Reference;
typedef int Flag;
typedef int Order;
typedef const char *String;
typedef char Byte;
typedef void *StateOfUnit;
typedef enum { OK, Warning, Discard, Error, Fatal, Pending } Status;
typedef enum { DoStepStatus, PendingStatus, LastSuccessfulTime, Terminated } StatusKind;
typedef struct {
    void (*logger)(void *, String, Status, String, String, ...);
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(void *, Status);
    void *componentEnvironment;
} Callbacks;
typedef struct {
    Flag newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged, valuesOfContinuousStatesChanged;
    Flag nextEventTimeDefined;
    double nextEventTime;
} EventInfo;

struct unit {
    struct NAME_instance *m;
    Callbacks call;
    char *name;
    int logging;
};

static void send(struct unit *x, Status status, const char *category, const char *text)
{
    if (x->call.logger) x->call.logger(x->call.componentEnvironment, x->name, status, category, text);
}

#include "NAME_unit.h"

NONE_OF(Integer, int)
NONE_OF(Boolean, Flag)
NONE_OF(String, String)

EXPORT const char *F(GetTypesPlatform)(void)
{
    return "default";
}

EXPORT Instance F(Instantiate)(String name, int type, String guid, String resources, const Callbacks *functions, Flag visible, Flag logging)
{
    struct unit *x;
    (void)type;
    (void)resources;
    (void)visible;
    if (!functions || !guid || !name || strcmp(guid, NAME_TOKEN)) {
        if (functions && functions->logger)
            functions->logger(functions->componentEnvironment, name, Error, "logStatusError", "the guid is not that of this model");
        return 0;
    }
    x = calloc(1, sizeof *x);
    if (!x) return 0;
    x->call = *functions;
    x->logging = logging;
    x->name = calloc(strlen(name) + 1, 1);
    x->m = NAME_new(tell, x);
    if (!x->m || !x->name) {
        NAME_delete(x->m);
        free(x->name);
        free(x);
        return 0;
    }
    strcpy(x->name, name);
    return x;
}

EXPORT void F(FreeInstance)(Instance i)
{
    struct unit *x = i;
    if (!x) return;
    NAME_delete(x->m);
    free(x->name);
    free(x);
}

EXPORT Status F(SetupExperiment)(Instance i, Flag defined, double tolerance, double start, Flag stop_defined, double stop)
{
    (void)stop_defined;
    (void)stop;
    set_up(i, defined, tolerance, start);
    return OK;
}

EXPORT Status F(EnterInitializationMode)(Instance i)
{
    return initializing(i);
}

EXPORT Status F(NewDiscreteStates)(Instance i, EventInfo *e)
{
    const int changed = NAME_event(M(i));
    memset(e, 0, sizeof *e);
    e->valuesOfContinuousStatesChanged = changed > 0;
    return changed < 0 ? Error : OK;
}

EXPORT Status F(SetRealInputDerivatives)(Instance i, const Reference r[], size_t n, const Order order[], const double v[])
{
    size_t k;
    for (k = 0; k < n; k++) {
        const Reference first = NAME_first_input;
        if (r[k] < first || r[k] >= NAME_first_parameter || order[k] != 1) {
            NAME_report(M(i), NAME_error, "only first derivatives of inputs can be set, value reference", r[k], 0);
            return Error;
        }
        if (NAME_input_rate[r[k] - first] < 0) M(i)->now.slopes[r[k] - first] = v[k]; /* motions bring their own */
    }
    return OK;
}

EXPORT Status F(DoStep)(Instance i, double t, double h, Flag no_set)
{
    (void)no_set;
    return stepped(i, t, h);
}

EXPORT Status F(CancelStep)(Instance i)
{
    (void)i;
    return Error;
}

EXPORT Status F(GetRealStatus)(Instance i, const StatusKind s, double *v)
{
    if (s != LastSuccessfulTime) return Discard;
    *v = M(i)->now.reached;
    return OK;
}

#define NO_STATUS(KIND, TYPE) \
    EXPORT Status F(Get##KIND)(Instance i, const StatusKind s, TYPE *v) \
    { \
        (void)i; \
        (void)s; \
        (void)v; \
        return Discard; \
    }
NO_STATUS(Status, Status)
NO_STATUS(IntegerStatus, int)
NO_STATUS(BooleanStatus, Flag)
NO_STATUS(StringStatus, String)
