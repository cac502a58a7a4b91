/* Types of FMI 3.0, and names of its functions. */
#ifndef NAME_FMI3_H
#define NAME_FMI3_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include "NAME_export.h"

#ifdef FMI3_FUNCTION_PREFIX
#define F(name) PREFIXED(FMI3_FUNCTION_PREFIX, PREFIXED(fmi3, name))
#else
#define F(name) PREFIXED(fmi3, name)
#endif
#define COUNT(n) , size_t n
#define SAME(n, m) if ((n) != (m)) return Error;
#define UNUSED(n) (void)n;

/* Types of the standard. */
typedef void *Instance;
typedef void *Environment;
typedef void *StateOfUnit;
typedef uint32_t Reference;
typedef bool Flag;
typedef int32_t Order;
typedef uint8_t Byte;
typedef const char *String;
typedef const uint8_t *Binary;
typedef enum { OK, Warning, Discard, Error, Fatal } Status;
typedef void (*Logger)(Environment, Status, String, String);
typedef void (*Update)(Environment, double, bool, bool, bool, bool, bool *, double *);

#endif
