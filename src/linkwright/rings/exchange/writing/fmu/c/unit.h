/*
 * The functions around an instance that FMI 2.0 and 3.0 share. The file of a version defines before it includes this:
 *   F(name)                the exported name of a function; those that the versions spell in different ways are renamed
 *   COUNT(n), SAME(n, m)   the length behind an array of numbers, and its check, which only FMI 3.0 has
 *   the types of the standard, struct unit with the members m (the instance) and logging, and send(), which passes a message on
 */
#define M(i) (((struct unit *)(i))->m)

static void tell(void *listener, int status, const char *text)
{
    static const char *const category[] = {"logAll", "logStatusWarning", "logStatusDiscard", "logStatusError"};
    struct unit *x = listener;
    if (x->logging || status >= NAME_error) send(x, (Status)status, category[status], text);
}

/* What was computed for another state, time or input is not used again. */
static void stale(Instance i)
{
    M(i)->fresh_rates = M(i)->fresh_outputs = 0;
}

static void set_up(Instance i, int defined, double tolerance, double start)
{
    if (defined && tolerance > 0.0) M(i)->now.tolerance = tolerance < 1e-12 ? 1e-12 : tolerance > 1e-3 ? 1e-3 : tolerance;
    M(i)->now.row[NAME_at_t] = start;
}

static Status initializing(Instance i)
{
    M(i)->now.mode = NAME_initializing;
    stale(i);
    return OK;
}

static Status stepped(Instance i, double t, double h)
{
    if (M(i)->now.mode != NAME_running) {
        NAME_report(M(i), NAME_error, "a step was asked for before the initialization was ended", t, 0);
        return Error;
    }
    if (!(h >= 0.0) || t + h - (t + h) != 0.0) {
        NAME_report(M(i), NAME_error, "the length of a step is finite and not negative", h, 0);
        return Error;
    }
    return NAME_advance(M(i), t, h) ? Discard : OK;
}

EXPORT const char *F(GetVersion)(void)
{
    return VERSION;
}

EXPORT Status F(SetDebugLogging)(Instance i, Flag on, size_t n, const String categories[])
{
    (void)n;
    (void)categories;
    ((struct unit *)i)->logging = on;
    return OK;
}

EXPORT Status F(ExitInitializationMode)(Instance i)
{
    return NAME_initialize(M(i)) ? Error : OK;
}

EXPORT Status F(Reset)(Instance i)
{
    NAME_reset(M(i));
    return OK;
}

/* Modes in which nothing happens by itself. */
#define NOTHING(FUNCTION) \
    EXPORT Status F(FUNCTION)(Instance i) \
    { \
        (void)i; \
        return OK; \
    }
NOTHING(EnterEventMode)
NOTHING(EnterContinuousTimeMode)
NOTHING(Terminate)

EXPORT Status F(GetNumbers)(Instance i, const Reference r[], size_t n, double v[] COUNT(nv))
{
    size_t k;
    SAME(nv, n)
    for (k = 0; k < n; k++) {
        const int status = NAME_get(M(i), r[k], v + k);
        if (status) return (Status)status;
    }
    return OK;
}

EXPORT Status F(SetNumbers)(Instance i, const Reference r[], size_t n, const double v[] COUNT(nv))
{
    size_t k;
    SAME(nv, n)
    for (k = 0; k < n; k++) {
        const int status = NAME_set(M(i), r[k], v[k]);
        if (status) return (Status)status;
    }
    return OK;
}

EXPORT Status F(GetState)(Instance i, StateOfUnit *s)
{
    if (!*s) *s = malloc(sizeof(struct NAME_memory));
    if (!*s) return Error;
    memcpy(*s, &M(i)->now, sizeof(struct NAME_memory));
    return OK;
}

EXPORT Status F(SetState)(Instance i, StateOfUnit s)
{
    if (!s) return Error;
    memcpy(&M(i)->now, s, sizeof(struct NAME_memory));
    stale(i);
    return OK;
}

EXPORT Status F(FreeState)(Instance i, StateOfUnit *s)
{
    (void)i;
    if (s) {
        free(*s);
        *s = 0;
    }
    return OK;
}

EXPORT Status F(SerializedStateSize)(Instance i, StateOfUnit s, size_t *n)
{
    (void)i;
    (void)s;
    *n = sizeof(struct NAME_memory);
    return OK;
}

EXPORT Status F(SerializeState)(Instance i, StateOfUnit s, Byte b[], size_t n)
{
    (void)i;
    if (!s || n < sizeof(struct NAME_memory)) return Error;
    memcpy(b, s, sizeof(struct NAME_memory));
    return OK;
}

EXPORT Status F(DeserializeState)(Instance i, const Byte b[], size_t n, StateOfUnit *s)
{
    (void)i;
    if (n != sizeof(struct NAME_memory)) return Error;
    if (!*s) *s = malloc(n);
    if (!*s) return Error;
    memcpy(*s, b, n);
    return OK;
}

EXPORT Status F(GetDirectionalDerivative)(
    Instance i, const Reference u[], size_t nu, const Reference k[], size_t nk, const double seed[] COUNT(n_seed), double out[] COUNT(n_out))
{
    SAME(n_seed, nk)
    SAME(n_out, nu)
    return (Status)NAME_tangent(M(i), u, (unsigned)nu, k, (unsigned)nk, seed, out);
}

/* -------------------------------------------------------------------- model exchange */

EXPORT Status F(CompletedIntegratorStep)(Instance i, Flag no_set, Flag *enter, Flag *terminate)
{
    (void)no_set;
    *terminate = 0;
    *enter = NAME_completed(M(i)) != 0;
    return OK;
}

EXPORT Status F(SetTime)(Instance i, double t)
{
    M(i)->now.row[NAME_at_t] = M(i)->now.since = t;
    stale(i);
    return OK;
}

EXPORT Status F(SetContinuousStates)(Instance i, const double x[], size_t n)
{
    if (n != NAME_nstates) return Error;
    memcpy(M(i)->now.row, x, n * sizeof *x);
    stale(i);
    return OK;
}

EXPORT Status F(GetContinuousStates)(Instance i, double x[], size_t n)
{
    if (n != NAME_nstates) return Error;
    memcpy(x, M(i)->now.row, n * sizeof *x);
    return OK;
}

EXPORT Status F(GetRates)(Instance i, double d[], size_t n)
{
    if (n != NAME_nstates) return Error;
    if (NAME_derivatives(M(i))) return Discard;
    memcpy(d, M(i)->rates, n * sizeof *d);
    return OK;
}

EXPORT Status F(GetEventIndicators)(Instance i, double z[], size_t n)
{
    if (n != NAME_nswitches) return Error;
    NAME_indicators(M(i), z);
    return OK;
}

EXPORT Status F(GetNominalsOfContinuousStates)(Instance i, double x[], size_t n)
{
    (void)i;
    if (n != NAME_nstates) return Error;
    memcpy(x, NAME_nominal, n * sizeof *x);
    return OK;
}

/* -------------------------------------------------------------------- co-simulation */

EXPORT Status F(GetRatesOfOutputs)(Instance i, const Reference r[], size_t n, const Order order[], double v[] COUNT(nv))
{
    (void)r;
    (void)order;
    (void)v;
    UNUSED(nv)
    if (n) NAME_report(M(i), NAME_error, "derivatives of outputs are not provided", 0.0, 0);
    return n ? Error : OK;
}
