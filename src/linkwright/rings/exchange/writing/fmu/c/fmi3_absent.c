/* Functions of FMI 3.0 for what a mechanism has not: it refuses them, but they must be there. */
#include "NAME_fmi3.h"

/* There are no variables of other types, no clocks and no dependencies that change. */
#define NONE_OF(KIND, TYPE) \
    EXPORT Status FMI(fmi3Get##KIND)(Instance i, const Reference r[], size_t n, TYPE v[], size_t nv) \
    { \
        (void)i; \
        (void)r; \
        (void)v; \
        (void)nv; \
        return n ? Error : OK; \
    } \
    EXPORT Status FMI(fmi3Set##KIND)(Instance i, const Reference r[], size_t n, const TYPE v[], size_t nv) \
    { \
        (void)i; \
        (void)r; \
        (void)v; \
        (void)nv; \
        return n ? Error : OK; \
    }
NONE_OF(Float32, float)
NONE_OF(Int8, int8_t)
NONE_OF(UInt8, uint8_t)
NONE_OF(Int16, int16_t)
NONE_OF(UInt16, uint16_t)
NONE_OF(Int32, int32_t)
NONE_OF(UInt32, uint32_t)
NONE_OF(Int64, int64_t)
NONE_OF(UInt64, uint64_t)
NONE_OF(Boolean, bool)
NONE_OF(String, String)

EXPORT Status FMI(fmi3GetBinary)(Instance i, const Reference r[], size_t n, size_t sizes[], Binary v[], size_t nv)
{
    (void)i;
    (void)r;
    (void)sizes;
    (void)v;
    (void)nv;
    return n ? Error : OK;
}

EXPORT Status FMI(fmi3SetBinary)(Instance i, const Reference r[], size_t n, const size_t sizes[], const Binary v[], size_t nv)
{
    (void)i;
    (void)r;
    (void)sizes;
    (void)v;
    (void)nv;
    return n ? Error : OK;
}

#define NO_CLOCKS(FUNCTION, A) \
    EXPORT Status FMI(FUNCTION)(Instance i, const Reference r[], size_t n, A a[]) \
    { \
        (void)i; \
        (void)r; \
        (void)a; \
        return n ? Error : OK; \
    }
NO_CLOCKS(fmi3GetClock, bool)
NO_CLOCKS(fmi3SetClock, const bool)
NO_CLOCKS(fmi3GetShiftDecimal, double)
NO_CLOCKS(fmi3SetIntervalDecimal, const double)
NO_CLOCKS(fmi3SetShiftDecimal, const double)

#define NO_FRACTIONS(FUNCTION, A) \
    EXPORT Status FMI(FUNCTION)(Instance i, const Reference r[], size_t n, A a[], A b[]) \
    { \
        (void)i; \
        (void)r; \
        (void)a; \
        (void)b; \
        return n ? Error : OK; \
    }
NO_FRACTIONS(fmi3GetShiftFraction, uint64_t)
NO_FRACTIONS(fmi3SetIntervalFraction, const uint64_t)
NO_FRACTIONS(fmi3SetShiftFraction, const uint64_t)

EXPORT Status FMI(fmi3GetIntervalDecimal)(Instance i, const Reference r[], size_t n, double v[], int qualifiers[])
{
    (void)i;
    (void)r;
    (void)v;
    (void)qualifiers;
    return n ? Error : OK;
}

EXPORT Status FMI(fmi3GetIntervalFraction)(Instance i, const Reference r[], size_t n, uint64_t a[], uint64_t b[], int qualifiers[])
{
    (void)i;
    (void)r;
    (void)a;
    (void)b;
    (void)qualifiers;
    return n ? Error : OK;
}

EXPORT Status FMI(fmi3GetNumberOfVariableDependencies)(Instance i, Reference r, size_t *n)
{
    (void)i;
    (void)r;
    *n = 0;
    return Error;
}

EXPORT Status FMI(fmi3GetVariableDependencies)(
    Instance i, Reference r, size_t elements[], Reference independents[], size_t of[], int kinds[], size_t n)
{
    (void)i;
    (void)r;
    (void)elements;
    (void)independents;
    (void)of;
    (void)kinds;
    (void)n;
    return Error;
}
