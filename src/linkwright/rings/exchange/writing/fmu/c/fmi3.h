/* Types of FMI 3.0, and how its functions are exported. */
#ifndef NAME_FMI3_H
#define NAME_FMI3_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#define JOINED(a, b) a##b
#define PREFIXED(a, b) JOINED(a, b)
#ifdef FMI3_FUNCTION_PREFIX
#define FMI(name) PREFIXED(FMI3_FUNCTION_PREFIX, name)
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
typedef void *Instance;
typedef void *Environment;
typedef void *StateOfUnit;
typedef uint32_t Reference;
typedef const char *String;
typedef const uint8_t *Binary;
typedef enum { OK, Warning, Discard, Error, Fatal } Status;
typedef void (*Logger)(Environment, Status, String, String);
typedef void (*Update)(Environment, double, bool, bool, bool, bool, bool *, double *);

#endif
