// Free motion by a function that casadi wrote as C, in an adaptive loop. Arguments: the library, then q and v at the start.
// The function gives (a, lam) from (q, v, tau).

#include <cstdlib>

#include <dlfcn.h>

#include "adaptive_loop.hpp"

using Generated = int (*)(const double **, double **, long long *, double *, int);

struct Dynamics
{
  Generated function;
  int nv;
  double tau[WIDTH] = {}, lam[16 * WIDTH];

  void operator()(const double * state, double * out)
  {
    const double * given[] = {state, state + nv, tau};
    double * found[] = {out + nv, lam};
    std::copy(state + nv, state + 2 * nv, out);
    function(given, found, nullptr, nullptr, 0);
  }
};

int main(int argc, char ** argv)
{
  std::vector<double> start;
  for (int i = 2; i < argc; ++i)
    start.push_back(std::atof(argv[i]));
  if (start.empty() || start.size() > WIDTH) return 2;
  void * library = dlopen(argv[1], RTLD_NOW);
  if (!library) return 3;
  Dynamics dynamics{reinterpret_cast<Generated>(dlsym(library, "forward")), static_cast<int>(start.size() / 2)};
  if (!dynamics.function) return 4;
  return Motion<Dynamics>(dynamics, start).answer();
}
