// Pinocchio's M, h, J, k and rnea of one model as casadi expressions, written to a file that casadi's Function.load reads.
// Same text of the model as pinocchio_timing.cpp. Arguments: model file, output file.

#include <iostream>

#include <pinocchio/autodiff/casadi.hpp>

#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "pinocchio_problem.hpp"

using SX = casadi::SX;
using Model = ModelOf<SX>;
using Data = DataOf<SX>;
using VectorS = Eigen::Matrix<SX, Eigen::Dynamic, 1>;
using Vector3S = Eigen::Matrix<SX, 3, 1>;

static VectorS entries(const SX & x)
{
  VectorS out(x.size1());
  for (int i = 0; i < out.size(); ++i)
    out[i] = x(i);
  return out;
}

static SX column(const VectorS & x)
{
  SX out = SX::zeros(x.size(), 1);
  for (int i = 0; i < x.size(); ++i)
    out(i) = x[i];
  return out;
}

// velocity of a point of a joint's body by every joint that carries it, in world axes
static void add(const Model & model, const Data & data, pin::JointIndex joint, const Vector3S & x, double sign,
                const std::vector<int> & axes, int row, SX & J)
{
  for (pin::JointIndex j = joint; j > 0; j = model.parents[j])
  {
    const int first = model.joints[j].idx_v(), count = model.joints[j].nv();
    for (int col = first; col < first + count; ++col)
    {
      const Vector3S w = data.J.col(col).tail<3>();
      const Vector3S u = data.J.col(col).head<3>() + w.cross(x);
      for (std::size_t k = 0; k < axes.size(); ++k)
        J(row + static_cast<int>(k), col) += sign * u[axes[k]];
    }
  }
}

int main(int argc, char ** argv)
{
  if (argc < 3) return 2;
  const Problem p = read(argv[1]);
  const Model model = p.model.cast<SX>();
  const SX q = SX::sym("q", model.nq), v = SX::sym("v", model.nv), a = SX::sym("a", model.nv);
  const VectorS qs = entries(q), vs = entries(v), as = entries(a);

  Data data(model);
  pin::crba(model, data, qs);
  SX M = SX::zeros(model.nv, model.nv);
  for (int i = 0; i < model.nv; ++i)
    for (int j = i; j < model.nv; ++j)
      M(i, j) = M(j, i) = data.M(i, j);
  const SX h = column(pin::nonLinearEffects(model, data, qs, vs));
  const SX tau = column(pin::rnea(model, data, qs, vs, as));

  pin::computeJointJacobians(model, data, qs);
  pin::forwardKinematics(model, data, qs, vs, VectorS::Zero(model.nv));
  int rows = 0;
  for (const auto & r : p.rows)
    rows += static_cast<int>(r.size());
  SX J = SX::zeros(rows, model.nv), k = SX::zeros(rows, 1);
  int row = 0;
  for (std::size_t i = 0; i < p.constraints.size(); ++i)
  {
    const auto & c = p.constraints[i];
    const auto X1 = c.joint1_placement.cast<SX>(), X2 = c.joint2_placement.cast<SX>();
    const Vector3S x1 = data.oMi[c.joint1_id].act(X1.translation()), x2 = data.oMi[c.joint2_id].act(X2.translation());
    add(model, data, c.joint1_id, x1, 1.0, p.rows[i], row, J);
    add(model, data, c.joint2_id, x2, -1.0, p.rows[i], row, J);
    const auto a1 = pin::getFrameClassicalAcceleration(model, data, c.joint1_id, X1, pin::LOCAL_WORLD_ALIGNED);
    const auto a2 = pin::getFrameClassicalAcceleration(model, data, c.joint2_id, X2, pin::LOCAL_WORLD_ALIGNED);
    for (int axis : p.rows[i])
    {
      k(row) = a1.linear()[axis] - a2.linear()[axis];
      ++row;
    }
  }
  casadi::Function("terms", {q, v, a}, {M, h, J, k, tau}, {"q", "v", "a"}, {"M", "h", "J", "k", "tau"}).save(argv[2]);
  return 0;
}
