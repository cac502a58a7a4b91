/* How functions of the standard are exported, and those of variables that a mechanism has not. */
#ifndef NAME_EXPORT_H
#define NAME_EXPORT_H

#define JOINED(a, b) a##b
#define PREFIXED(a, b) JOINED(a, b)
#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

/* There are no variables of other types. */
#define NONE_OF(KIND, TYPE) \
    EXPORT Status F(Get##KIND)(Instance i, const Reference r[], size_t n, TYPE v[] COUNT(nv)) \
    { \
        (void)i; \
        (void)r; \
        (void)v; \
        UNUSED(nv) \
        return n ? Error : OK; \
    } \
    EXPORT Status F(Set##KIND)(Instance i, const Reference r[], size_t n, const TYPE v[] COUNT(nv)) \
    { \
        (void)i; \
        (void)r; \
        (void)v; \
        UNUSED(nv) \
        return n ? Error : OK; \
    }

#endif
