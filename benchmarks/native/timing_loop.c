/* Calls a function over and over in short bursts for about the given time; the best burst counts. Nanoseconds of one call. */

#include <time.h>

typedef void (*two_pointers)(void *, void *);
typedef int (*generated)(const double **, double **, long long *, double *, int); /* as casadi writes them */

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define BEST(call)                                                                                                     \
  long calls = 1;                                                                                                      \
  double best, start, spent;                                                                                           \
  for (;; calls *= 2)                                                                                                  \
  {                                                                                                                    \
    start = now();                                                                                                     \
    for (long i = 0; i < calls; ++i)                                                                                   \
      call;                                                                                                            \
    spent = now() - start;                                                                                             \
    if (spent > 2e-4)                                                                                                  \
      break;                                                                                                           \
  }                                                                                                                    \
  best = spent;                                                                                                        \
  const double begin = now();                                                                                          \
  while (now() - begin < seconds)                                                                                      \
  {                                                                                                                    \
    start = now();                                                                                                     \
    for (long i = 0; i < calls; ++i)                                                                                   \
      call;                                                                                                            \
    spent = now() - start;                                                                                             \
    best = spent < best ? spent : best;                                                                                \
  }                                                                                                                    \
  return 1e9 * best / (double)calls;

double best_of_two_pointers(two_pointers f, void * a, void * b, double seconds)
{
  BEST(f(a, b))
}

double best_of_generated(generated f, const double ** inputs, double ** outputs, double seconds)
{
  BEST(f(inputs, outputs, 0, 0, 0))
}
