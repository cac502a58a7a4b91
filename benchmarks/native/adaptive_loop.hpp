// An adaptive loop of order 8(5,3) around any function of the rates, and how it is asked to run: on every input line
// "tolerance duration seconds" it runs again and again for about that many seconds, once at least, and prints the best
// nanoseconds (of the processor) of one run, steps, evaluations, and the state at the end.

#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <vector>

constexpr int WIDTH = 64;  // most numbers of a state
#include "dopri8_sums.hpp"

template<typename Rates>
struct Motion
{
  Rates & rates;  // rates(state, out)
  std::vector<double> start;
  int n, steps = 0, evaluations = 0;
  double k[STAGES + 1][WIDTH], y[WIDTH], x[WIDTH];

  Motion(Rates & function, const std::vector<double> & state) : rates(function), start(state), n(static_cast<int>(state.size())) {}

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
    steps = 0;
    evaluations = 1;
    std::copy(start.begin(), start.end(), y);
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
      evaluations += STAGES - 1;
      const double e = error(h, tolerance), factor = e > 0 ? 0.9 * std::pow(e, -0.125) : 6.0;
      if (!(e <= 1))
      {
        h *= std::max(1.0 / 3, std::min(factor, 0.9));
        held = true;
        continue;
      }
      rates(x, k[0]);
      ++evaluations;
      std::copy(x, x + n, y);
      t = last ? duration : t + h;
      h *= std::min(held ? 1.0 : 6.0, std::max(1.0 / 3, factor));
      held = false;
      ++steps;
    }
  }

  int answer()
  {
    double tolerance = 0, duration = 0, seconds = 0;
    using clock = std::chrono::steady_clock;
    while (std::cin >> tolerance >> duration >> seconds)
    {
      const auto begin = clock::now();
      double best = 1e300;
      do
      {
        const std::clock_t from = std::clock();
        run(tolerance, duration);
        best = std::min(best, double(std::clock() - from) / CLOCKS_PER_SEC);
      } while (std::chrono::duration<double>(clock::now() - begin).count() < seconds);
      std::printf("%.9g %d %d", 1e9 * best, steps, evaluations);
      for (int i = 0; i < n; ++i)
        std::printf(" %.17g", y[i]);
      std::printf("\n");
      std::fflush(stdout);
    }
    return 0;
  }
};
