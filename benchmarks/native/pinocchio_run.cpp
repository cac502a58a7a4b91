// Free motion by Pinocchio's constraintDynamics in an adaptive loop. Reads a model as text (see linkwright.bench.pinocchio_cpp).

#include <pinocchio/algorithm/constrained-dynamics.hpp>

#include "pinocchio_problem.hpp"

#include "adaptive_loop.hpp"

struct Dynamics
{
  Problem & p;
  DataOf<double> data;
  std::vector<pin::RigidConstraintData, Eigen::aligned_allocator<pin::RigidConstraintData>> datas;
  pin::ProximalSettings settings{1e-12, 1e-10, 2};
  Vector q, v;

  explicit Dynamics(Problem & problem) : p(problem), data(problem.model), q(problem.q), v(problem.v)
  {
    for (const auto & c : p.constraints)
      datas.push_back(c.createData());
    pin::initConstraintDynamics(p.model, data, p.constraints, datas);
  }

  void operator()(const double * state, double * out)
  {
    const int nv = p.model.nv;
    q = Eigen::Map<const Vector>(state, nv);
    v = Eigen::Map<const Vector>(state + nv, nv);
    pin::constraintDynamics(p.model, data, q, v, p.tau, p.constraints, datas, settings);
    std::copy(state + nv, state + 2 * nv, out);
    Eigen::Map<Vector>(out + nv, nv) = data.ddq;
  }
};

int main(int argc, char ** argv)
{
  if (argc < 2) return 2;
  Problem p = read(argv[1]);
  if (2 * p.model.nv > WIDTH || p.model.nq != p.model.nv) return 3;
  Dynamics dynamics(p);
  std::vector<double> start(p.q.data(), p.q.data() + p.model.nv);
  start.insert(start.end(), p.v.data(), p.v.data() + p.model.nv);
  return Motion<Dynamics>(dynamics, start).answer();
}
