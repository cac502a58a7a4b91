// Free motion by Pinocchio's constraintDynamics in an adaptive loop of order 8(5,3). Reads a model as text (see
// linkwright.bench.pinocchio_cpp); on every input line "tolerance duration seconds" it runs again and again for about that
// many seconds, once at least, and prints the best nanoseconds (of the processor) of one run, steps, evaluations, and the state at the end.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <iostream>

#include <pinocchio/algorithm/constrained-dynamics.hpp>

#include "pinocchio_problem.hpp"

constexpr int WIDTH = 64;  // most numbers of a state
#include "dopri8_sums.hpp"

struct Motion
{
  Problem & p;
  DataOf<double> data;
  std::vector<pin::RigidConstraintData, Eigen::aligned_allocator<pin::RigidConstraintData>> datas;
  pin::ProximalSettings settings{1e-12, 1e-10, 2};
  int n, steps = 0, evaluations = 0;
  Vector q, v;
  double k[STAGES + 1][WIDTH], y[WIDTH], x[WIDTH];

  explicit Motion(Problem & problem) : p(problem), data(problem.model), n(2 * problem.model.nv), q(problem.q), v(problem.v)
  {
    for (const auto & c : p.constraints)
      datas.push_back(c.createData());
    pin::initConstraintDynamics(p.model, data, p.constraints, datas);
  }

  void rates(const double * state, double * out)
  {
    const int nv = p.model.nv;
    q = Eigen::Map<const Vector>(state, nv);
    v = Eigen::Map<const Vector>(state + nv, nv);
    pin::constraintDynamics(p.model, data, q, v, p.tau, p.constraints, datas, settings);
    std::copy(state + nv, state + n, out);
    Eigen::Map<Vector>(out + nv, nv) = data.ddq;
    ++evaluations;
  }

  // both estimates against what is permitted, combined as DOP853 does
  double error(double h, double tolerance)
  {
    double five = 0, three = 0;
    for (int i = 0; i < n; ++i)
    {
      const double scale = tolerance * (1.0 + std::max(std::abs(y[i]), std::abs(x[i])));
      const double e5 = error_fifth(k, i) / scale, e3 = error_third(k, i) / scale;
      five += e5 * e5;
      three += e3 * e3;
    }
    const double both = five + 0.01 * three;
    return both > 0 ? h * five / std::sqrt(both * n) : 0.0;
  }

  void run(double tolerance, double duration)
  {
    double t = 0, h = 1e-3;
    bool held = false;
    steps = evaluations = 0;
    std::copy(p.q.data(), p.q.data() + n / 2, y);
    std::copy(p.v.data(), p.v.data() + n / 2, y + n / 2);
    rates(y, k[0]);
    while (t < duration)
    {
      const bool last = t + 1.01 * h >= duration;
      if (last) h = duration - t;
      for (int row = 1; row <= STAGES; ++row)
      {
        stage(row, n, h, y, k, x);
        if (row < STAGES) rates(x, k[row]);
      }
      const double e = error(h, tolerance), factor = e > 0 ? 0.9 * std::pow(e, -0.125) : 6.0;
      if (!(e <= 1))
      {
        h *= std::max(1.0 / 3, std::min(factor, 0.9));
        held = true;
        continue;
      }
      rates(x, k[0]);
      std::copy(x, x + n, y);
      t = last ? duration : t + h;
      h *= std::min(held ? 1.0 : 6.0, std::max(1.0 / 3, factor));
      held = false;
      ++steps;
    }
  }
};

int main(int argc, char ** argv)
{
  if (argc < 2) return 2;
  Problem p = read(argv[1]);
  if (2 * p.model.nv > WIDTH || p.model.nq != p.model.nv) return 3;
  Motion motion(p);
  double tolerance = 0, duration = 0, seconds = 0;
  using clock = std::chrono::steady_clock;
  const auto spent = [](clock::time_point t) { return std::chrono::duration<double>(clock::now() - t).count(); };
  while (std::cin >> tolerance >> duration >> seconds)
  {
    const auto begin = clock::now();
    double best = 1e300;
    do
    {
      const std::clock_t start = std::clock();
      motion.run(tolerance, duration);
      best = std::min(best, double(std::clock() - start) / CLOCKS_PER_SEC);
    } while (spent(begin) < seconds);
    std::printf("%.9g %d %d", 1e9 * best, motion.steps, motion.evaluations);
    for (int i = 0; i < motion.n; ++i)
      std::printf(" %.17g", motion.y[i]);
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}
