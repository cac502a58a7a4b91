/* A flat program as tables: each operation has four entries (what, a, b, c), operands are places of earlier operations. */
#ifndef NAME_TAPE_H
#define NAME_TAPE_H

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0) || defined(_M_FP_FAST)
#error "compile without -ffast-math, -ffinite-math-only, /fp:fast: they drop the checks behind the status"
#endif

struct tape {
    int n, n_in, n_out;
    const int *code;
    const double *constant;
    const int *result;
};

/* Results y on inputs x; w has room for n numbers and holds all values afterwards. */
void NAME_values(const struct tape *p, const double *x, double *y, double *w);

/* Derivatives dy of the results along dx, after NAME_values; d has room for n numbers. */
void NAME_along(const struct tape *p, const double *dx, double *dy, const double *w, double *d);

/* Derivatives of the sum of weights[i] * result i by all inputs, added to gx, after NAME_values; d has room for n numbers. */
void NAME_against(const struct tape *p, const double *weights, double *gx, const double *w, double *d);

#endif
