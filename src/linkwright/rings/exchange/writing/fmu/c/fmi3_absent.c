/* Functions of FMI 3.0 for what a mechanism has not: it refuses them, but they must be there. */
#include "NAME_fmi3.h"

/* There are no variables of other types, no clocks and no dependencies that change. */
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

EXPORT Status F(GetBinary)(Instance i, const Reference r[], size_t n, size_t sizes[], Binary v[], size_t nv)
{
    (void)i;
    (void)r;
    (void)sizes;
    (void)v;
    (void)nv;
    return n ? Error : OK;
}

EXPORT Status F(SetBinary)(Instance i, const Reference r[], size_t n, const size_t sizes[], const Binary v[], size_t nv)
{
    (void)i;
    (void)r;
    (void)sizes;
    (void)v;
    (void)nv;
    return n ? Error : OK;
}

#define NO_CLOCKS(FUNCTION, A) \
    EXPORT Status F(FUNCTION)(Instance i, const Reference r[], size_t n, A a[]) \
    { \
        (void)i; \
        (void)r; \
        (void)a; \
        return n ? Error : OK; \
    }
NO_CLOCKS(GetClock, bool)
NO_CLOCKS(SetClock, const bool)
NO_CLOCKS(GetShiftDecimal, double)
NO_CLOCKS(SetIntervalDecimal, const double)
NO_CLOCKS(SetShiftDecimal, const double)

#define NO_FRACTIONS(FUNCTION, A) \
    EXPORT Status F(FUNCTION)(Instance i, const Reference r[], size_t n, A a[], A b[]) \
    { \
        (void)i; \
        (void)r; \
        (void)a; \
        (void)b; \
        return n ? Error : OK; \
    }
NO_FRACTIONS(GetShiftFraction, uint64_t)
NO_FRACTIONS(SetIntervalFraction, const uint64_t)
NO_FRACTIONS(SetShiftFraction, const uint64_t)

EXPORT Status F(GetIntervalDecimal)(Instance i, const Reference r[], size_t n, double v[], int qualifiers[])
{
    (void)i;
    (void)r;
    (void)v;
    (void)qualifiers;
    return n ? Error : OK;
}

EXPORT Status F(GetIntervalFraction)(Instance i, const Reference r[], size_t n, uint64_t a[], uint64_t b[], int qualifiers[])
{
    (void)i;
    (void)r;
    (void)a;
    (void)b;
    (void)qualifiers;
    return n ? Error : OK;
}

EXPORT Status F(GetNumberOfVariableDependencies)(Instance i, Reference r, size_t *n)
{
    (void)i;
    (void)r;
    *n = 0;
    return Error;
}

EXPORT Status F(GetVariableDependencies)(
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
