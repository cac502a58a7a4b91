/* FMI 2.0 for model exchange and co-simulation: the functions of the standard around an instance. */
#include <stdlib.h>
#include <string.h>
#include "NAME_core.h"

#define JOINED(a, b) a##b
#define PREFIXED(a, b) JOINED(a, b)
#ifdef FMI2_FUNCTION_PREFIX
#define FMI(name) PREFIXED(FMI2_FUNCTION_PREFIX, name)
#else
#define FMI(name) name
#endif
#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

/* Types of the standard. */
typedef void *Component;
typedef unsigned Reference;
typedef double Real;
typedef int Integer;
typedef int Boolean;
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
    Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged, valuesOfContinuousStatesChanged;
    Boolean nextEventTimeDefined;
    Real nextEventTime;
} EventInfo;

struct unit {
    struct NAME_instance *m;
    Callbacks call;
    char *name;
    int logging;
};
#define M(c) (((struct unit *)(c))->m)

static void tell(void *listener, int status, const char *text)
{
    static const char *const category[] = {"logAll", "logStatusWarning", "logStatusDiscard", "logStatusError"};
    struct unit *x = listener;
    if (x->call.logger && (x->logging || status >= NAME_error))
        x->call.logger(x->call.componentEnvironment, x->name, (Status)status, category[status], text);
}

EXPORT const char *FMI(fmi2GetTypesPlatform)(void)
{
    return "default";
}

EXPORT const char *FMI(fmi2GetVersion)(void)
{
    return "2.0";
}

EXPORT Status FMI(fmi2SetDebugLogging)(Component c, Boolean on, size_t n, const String categories[])
{
    (void)n;
    (void)categories;
    ((struct unit *)c)->logging = on;
    return OK;
}

EXPORT Component FMI(fmi2Instantiate)(
    String name, int type, String guid, String resources, const Callbacks *functions, Boolean visible, Boolean logging)
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

EXPORT void FMI(fmi2FreeInstance)(Component c)
{
    struct unit *x = c;
    if (!x) return;
    NAME_delete(x->m);
    free(x->name);
    free(x);
}

EXPORT Status FMI(fmi2SetupExperiment)(Component c, Boolean defined, Real tolerance, Real start, Boolean stop_defined, Real stop)
{
    (void)stop_defined;
    (void)stop;
    if (defined && tolerance > 0.0) M(c)->now.tolerance = tolerance < 1e-12 ? 1e-12 : tolerance > 1e-3 ? 1e-3 : tolerance;
    M(c)->now.row[NAME_at_t] = start;
    return OK;
}

EXPORT Status FMI(fmi2EnterInitializationMode)(Component c)
{
    M(c)->now.mode = NAME_initializing;
    M(c)->fresh_rates = M(c)->fresh_outputs = 0;
    return OK;
}

EXPORT Status FMI(fmi2ExitInitializationMode)(Component c)
{
    return NAME_initialize(M(c)) ? Error : OK;
}

EXPORT Status FMI(fmi2Terminate)(Component c)
{
    (void)c;
    return OK;
}

EXPORT Status FMI(fmi2Reset)(Component c)
{
    NAME_reset(M(c));
    return OK;
}

EXPORT Status FMI(fmi2GetReal)(Component c, const Reference r[], size_t n, Real v[])
{
    size_t i;
    for (i = 0; i < n; i++) {
        const int status = NAME_get(M(c), r[i], v + i);
        if (status) return (Status)status;
    }
    return OK;
}

EXPORT Status FMI(fmi2SetReal)(Component c, const Reference r[], size_t n, const Real v[])
{
    size_t i;
    for (i = 0; i < n; i++) {
        const int status = NAME_set(M(c), r[i], v[i]);
        if (status) return (Status)status;
    }
    return OK;
}

/* There are no variables of other types. */
#define NONE_OF(KIND, TYPE) \
    EXPORT Status FMI(fmi2Get##KIND)(Component c, const Reference r[], size_t n, TYPE v[]) \
    { \
        (void)c; \
        (void)r; \
        (void)v; \
        return n ? Error : OK; \
    } \
    EXPORT Status FMI(fmi2Set##KIND)(Component c, const Reference r[], size_t n, const TYPE v[]) \
    { \
        (void)c; \
        (void)r; \
        (void)v; \
        return n ? Error : OK; \
    }
NONE_OF(Integer, Integer)
NONE_OF(Boolean, Boolean)
NONE_OF(String, String)

EXPORT Status FMI(fmi2GetFMUstate)(Component c, StateOfUnit *s)
{
    if (!*s) *s = malloc(sizeof(struct NAME_memory));
    if (!*s) return Error;
    memcpy(*s, &M(c)->now, sizeof(struct NAME_memory));
    return OK;
}

EXPORT Status FMI(fmi2SetFMUstate)(Component c, StateOfUnit s)
{
    if (!s) return Error;
    memcpy(&M(c)->now, s, sizeof(struct NAME_memory));
    M(c)->fresh_rates = M(c)->fresh_outputs = 0;
    return OK;
}

EXPORT Status FMI(fmi2FreeFMUstate)(Component c, StateOfUnit *s)
{
    (void)c;
    if (s) {
        free(*s);
        *s = 0;
    }
    return OK;
}

EXPORT Status FMI(fmi2SerializedFMUstateSize)(Component c, StateOfUnit s, size_t *n)
{
    (void)c;
    (void)s;
    *n = sizeof(struct NAME_memory);
    return OK;
}

EXPORT Status FMI(fmi2SerializeFMUstate)(Component c, StateOfUnit s, Byte b[], size_t n)
{
    (void)c;
    if (!s || n < sizeof(struct NAME_memory)) return Error;
    memcpy(b, s, sizeof(struct NAME_memory));
    return OK;
}

EXPORT Status FMI(fmi2DeSerializeFMUstate)(Component c, const Byte b[], size_t n, StateOfUnit *s)
{
    (void)c;
    if (n != sizeof(struct NAME_memory)) return Error;
    if (!*s) *s = malloc(n);
    if (!*s) return Error;
    memcpy(*s, b, n);
    return OK;
}

EXPORT Status FMI(fmi2GetDirectionalDerivative)(
    Component c, const Reference u[], size_t nu, const Reference k[], size_t nk, const Real dk[], Real du[])
{
    return (Status)NAME_tangent(M(c), u, (unsigned)nu, k, (unsigned)nk, dk, du);
}

/* -------------------------------------------------------------------- model exchange */

EXPORT Status FMI(fmi2EnterEventMode)(Component c)
{
    (void)c;
    return OK;
}

EXPORT Status FMI(fmi2NewDiscreteStates)(Component c, EventInfo *e)
{
    const int changed = NAME_event(M(c));
    memset(e, 0, sizeof *e);
    e->valuesOfContinuousStatesChanged = changed > 0;
    return changed < 0 ? Error : OK;
}

EXPORT Status FMI(fmi2EnterContinuousTimeMode)(Component c)
{
    (void)c;
    return OK;
}

EXPORT Status FMI(fmi2CompletedIntegratorStep)(Component c, Boolean no_set, Boolean *enter, Boolean *stop)
{
    (void)no_set;
    *stop = 0;
    *enter = NAME_completed(M(c));
    return OK;
}

EXPORT Status FMI(fmi2SetTime)(Component c, Real t)
{
    M(c)->now.row[NAME_at_t] = M(c)->now.since = t;
    M(c)->fresh_rates = M(c)->fresh_outputs = 0;
    return OK;
}

EXPORT Status FMI(fmi2SetContinuousStates)(Component c, const Real x[], size_t n)
{
    if (n != NAME_nstates) return Error;
    memcpy(M(c)->now.row, x, n * sizeof *x);
    M(c)->fresh_rates = M(c)->fresh_outputs = 0;
    return OK;
}

EXPORT Status FMI(fmi2GetDerivatives)(Component c, Real d[], size_t n)
{
    if (n != NAME_nstates) return Error;
    if (NAME_derivatives(M(c))) return Discard;
    memcpy(d, M(c)->rates, n * sizeof *d);
    return OK;
}

EXPORT Status FMI(fmi2GetEventIndicators)(Component c, Real z[], size_t n)
{
    if (n != NAME_nswitches) return Error;
    NAME_indicators(M(c), z);
    return OK;
}

EXPORT Status FMI(fmi2GetContinuousStates)(Component c, Real x[], size_t n)
{
    if (n != NAME_nstates) return Error;
    memcpy(x, M(c)->now.row, n * sizeof *x);
    return OK;
}

EXPORT Status FMI(fmi2GetNominalsOfContinuousStates)(Component c, Real x[], size_t n)
{
    (void)c;
    if (n != NAME_nstates) return Error;
    memcpy(x, NAME_nominal, n * sizeof *x);
    return OK;
}

/* -------------------------------------------------------------------- co-simulation */

EXPORT Status FMI(fmi2SetRealInputDerivatives)(Component c, const Reference r[], size_t n, const Integer order[], const Real v[])
{
    size_t i;
    for (i = 0; i < n; i++) {
        const Reference first = NAME_first_input;
        if (r[i] < first || r[i] >= NAME_first_parameter || order[i] != 1) {
            NAME_report(M(c), NAME_error, "only first derivatives of inputs can be set, value reference", r[i], 0);
            return Error;
        }
        if (NAME_input_rate[r[i] - first] < 0) M(c)->now.slopes[r[i] - first] = v[i]; /* motions bring their own */
    }
    return OK;
}

EXPORT Status FMI(fmi2GetRealOutputDerivatives)(Component c, const Reference r[], size_t n, const Integer order[], Real v[])
{
    (void)r;
    (void)order;
    (void)v;
    if (n) NAME_report(M(c), NAME_error, "derivatives of outputs are not provided", 0.0, 0);
    return n ? Error : OK;
}

EXPORT Status FMI(fmi2DoStep)(Component c, Real t, Real h, Boolean no_set)
{
    (void)no_set;
    if (M(c)->now.mode != NAME_running) {
        NAME_report(M(c), NAME_error, "a step was asked for before the initialization was ended", t, 0);
        return Error;
    }
    if (!(h >= 0.0) || t + h - (t + h) != 0.0) {
        NAME_report(M(c), NAME_error, "the length of a step is finite and not negative", h, 0);
        return Error;
    }
    return NAME_advance(M(c), t, h) ? Discard : OK;
}

EXPORT Status FMI(fmi2CancelStep)(Component c)
{
    (void)c;
    return Error;
}

EXPORT Status FMI(fmi2GetRealStatus)(Component c, const StatusKind s, Real *v)
{
    if (s != LastSuccessfulTime) return Discard;
    *v = M(c)->now.reached;
    return OK;
}

#define NO_STATUS(KIND, TYPE) \
    EXPORT Status FMI(fmi2Get##KIND)(Component c, const StatusKind s, TYPE *v) \
    { \
        (void)c; \
        (void)s; \
        (void)v; \
        return Discard; \
    }
NO_STATUS(Status, Status)
NO_STATUS(IntegerStatus, Integer)
NO_STATUS(BooleanStatus, Boolean)
NO_STATUS(StringStatus, String)
