// Times Pinocchio's algorithms on one model, read as text (see linkwright.bench.pinocchio_cpp for the layout).
// Header-only use of Pinocchio: everything is compiled here for this CPU. On every input line "algorithm seconds" it runs the
// algorithm in short bursts for about that long and prints the best nanoseconds of one call, then the result.

#include <chrono>
#include <functional>
#include <iostream>

#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/loop-constrained-aba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "pinocchio_problem.hpp"

// Efforts of the drives and forces in the loops that give accelerations a: rnea, then J' lam on the passive joints.
struct Inverse
{
  Problem & p;
  DataOf<double> data;
  std::vector<int> passive;
  Matrix J, Jt;
  Vector rest, result;
  Eigen::Matrix<double, 6, Eigen::Dynamic> J1, J2;
  Eigen::PartialPivLU<Matrix> lu;

  explicit Inverse(Problem & problem) : p(problem), data(problem.model)
  {
    const int nv = p.model.nv;
    int rows = 0;
    for (const auto & r : p.rows)
      rows += static_cast<int>(r.size());
    for (int i = 0; i < nv; ++i)
    {
      bool driven = false;
      for (int d : p.drives)
        driven = driven || d == i;
      if (!driven) passive.push_back(i);
    }
    J.setZero(rows, nv);
    Jt.setZero(static_cast<int>(passive.size()), rows);
    rest.setZero(static_cast<int>(passive.size()));
    result.setZero(static_cast<int>(p.drives.size()) + rows);
    J1.setZero(6, nv);
    J2.setZero(6, nv);
    lu = Eigen::PartialPivLU<Matrix>(rows);
  }

  void operator()()
  {
    pin::rnea(p.model, data, p.q, p.v, p.a);
    pin::computeJointJacobians(p.model, data, p.q);  // columns in world axes at the world's origin
    int row = 0;
    for (std::size_t i = 0; i < p.constraints.size(); ++i)
    {
      const auto & c = p.constraints[i];
      const Eigen::Vector3d x = data.oMi[c.joint1_id].act(c.joint1_placement.translation());
      for (int axis : p.rows[i])
        J.row(row + axis_place(i, axis)).setZero();
      add(c.joint1_id, x, 1.0, i, row);
      add(c.joint2_id, x, -1.0, i, row);
      row += static_cast<int>(p.rows[i].size());
    }
    for (std::size_t k = 0; k < passive.size(); ++k)
    {
      Jt.row(static_cast<int>(k)) = J.col(passive[k]).transpose();
      rest[static_cast<int>(k)] = data.tau[passive[k]];
    }
    lu.compute(Jt);
    const int nd = static_cast<int>(p.drives.size());
    result.tail(row) = lu.solve(rest);
    for (int k = 0; k < nd; ++k)
      result[k] = data.tau[p.drives[k]] - J.col(p.drives[k]).dot(result.tail(row));
  }

  int axis_place(std::size_t loop, int axis) const
  {
    int k = 0;
    while (p.rows[loop][static_cast<std::size_t>(k)] != axis)
      ++k;
    return k;
  }

  // velocity of the point x on a joint's body: only the columns of the joints that carry it
  void add(pin::JointIndex joint, const Eigen::Vector3d & x, double sign, std::size_t loop, int row)
  {
    for (pin::JointIndex j = joint; j > 0; j = p.model.parents[j])
    {
      const int first = p.model.joints[j].idx_v(), count = p.model.joints[j].nv();
      for (int col = first; col < first + count; ++col)
      {
        const Eigen::Vector3d w = data.J.col(col).tail<3>();
        const Eigen::Vector3d u = data.J.col(col).head<3>() + w.cross(x);
        int k = 0;
        for (int axis : p.rows[loop])
          J(row + k++, col) += sign * u[axis];
      }
    }
  }
};

static double best_ns(double seconds, const std::function<void()> & call)
{
  using clock = std::chrono::steady_clock;
  const auto spent = [](clock::time_point t) { return std::chrono::duration<double>(clock::now() - t).count(); };
  int repeats = 1;
  double once = 0;
  for (;; repeats *= 2)
  {
    const auto t = clock::now();
    for (int i = 0; i < repeats; ++i)
      call();
    once = spent(t);
    if (once > 2e-4) break;
  }
  double best = once / repeats;
  const auto start = clock::now();
  while (spent(start) < seconds)
  {
    const auto t = clock::now();
    for (int i = 0; i < repeats; ++i)
      call();
    best = std::min(best, spent(t) / repeats);
  }
  return 1e9 * best;
}

int main(int argc, char ** argv)
{
  if (argc < 2) return 2;
  Problem p = read(argv[1]);
  DataOf<double> data(p.model);
  std::vector<pin::RigidConstraintData, Eigen::aligned_allocator<pin::RigidConstraintData>> datas;
  for (const auto & c : p.constraints)
    datas.push_back(c.createData());
  pin::initConstraintDynamics(p.model, data, p.constraints, datas);
  pin::ProximalSettings two(1e-12, 1e-10, 2), more(1e-12, 1e-6, 10);
  DataOf<double> sparse(p.model);
  pin::computeJointMinimalOrdering(p.model, sparse, p.constraints);
  Inverse inverse(p);
  std::string what;
  double seconds = 0;
  while (std::cin >> what >> seconds)
  {
    Vector out;
    double ns = 0;
    if (what == "constraintDynamics")
    {
      ns = best_ns(seconds, [&] { pin::constraintDynamics(p.model, data, p.q, p.v, p.tau, p.constraints, datas, two); });
      out = data.ddq;
    }
    else if (what == "lcaba")
    {
      ns = best_ns(seconds, [&] { pin::lcaba(p.model, sparse, p.q, p.v, p.tau, p.constraints, datas, more); });
      out = sparse.ddq;
    }
    else if (what == "inverse")
    {
      ns = best_ns(seconds, [&] { inverse(); });
      out = inverse.result;
    }
    else
      return 3;
    std::printf("%.6g", ns);
    for (int i = 0; i < out.size(); ++i)
      std::printf(" %.17g", out[i]);
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}
