// A model with its loops and one state as text, and how it is read (linkwright.bench.pinocchio_cpp writes it).

#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <Eigen/Dense>

#include <pinocchio/constraints.hpp>
#include <pinocchio/multibody.hpp>
#include <pinocchio/multibody/joint.hpp>

namespace pin = pinocchio;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

// The joints of the mechanisms compared, and mimics because Pinocchio asks for them: its full list takes several times as long to compile.
template<typename S, int O>
struct Joints
{
  typedef S Scalar;
  static constexpr int Options = O;
  typedef boost::variant<
    pin::JointModelRevoluteTpl<S, O, 0>, pin::JointModelRevoluteTpl<S, O, 1>, pin::JointModelRevoluteTpl<S, O, 2>,
    pin::JointModelPrismaticTpl<S, O, 0>, pin::JointModelPrismaticTpl<S, O, 1>, pin::JointModelPrismaticTpl<S, O, 2>,
    pin::JointModelFreeFlyerTpl<S, O>, boost::recursive_wrapper<pin::JointModelMimicTpl<S, O, ::Joints>>>
    JointModelVariant;
  typedef boost::variant<
    pin::JointDataRevoluteTpl<S, O, 0>, pin::JointDataRevoluteTpl<S, O, 1>, pin::JointDataRevoluteTpl<S, O, 2>,
    pin::JointDataPrismaticTpl<S, O, 0>, pin::JointDataPrismaticTpl<S, O, 1>, pin::JointDataPrismaticTpl<S, O, 2>,
    pin::JointDataFreeFlyerTpl<S, O>, boost::recursive_wrapper<pin::JointDataMimicTpl<S, O, ::Joints>>>
    JointDataVariant;
};

template<typename S>
using ModelOf = pin::ModelTpl<S, 0, Joints>;
template<typename S>
using DataOf = pin::DataTpl<S, 0, Joints>;

struct Problem
{
  ModelOf<double> model;
  std::vector<pin::RigidConstraintModel, Eigen::aligned_allocator<pin::RigidConstraintModel>> constraints;
  std::vector<std::vector<int>> rows;  // world axes along which each loop is closed: both of a plane, or all three
  std::vector<int> drives;             // entries of v that are driven
  Vector q, v, tau, a;
};

static pin::SE3 placement(std::istream & in)
{
  Eigen::Matrix3d R;
  Eigen::Vector3d p;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      in >> R(i, j);
  in >> p[0] >> p[1] >> p[2];
  return pin::SE3(R, p);
}

static Vector numbers(std::istream & in)
{
  int n = 0;
  in >> n;
  Vector out(n);
  for (int i = 0; i < n; ++i)
    in >> out[i];
  return out;
}

static std::vector<int> indices(std::istream & in)
{
  int n = 0;
  in >> n;
  std::vector<int> out(static_cast<std::size_t>(n));
  for (int & x : out)
    in >> x;
  return out;
}

static pin::JointModelTpl<double, 0, Joints> joint(const std::string & kind)
{
  if (kind == "RX") return pin::JointModelRX();
  if (kind == "RY") return pin::JointModelRY();
  if (kind == "RZ") return pin::JointModelRZ();
  if (kind == "PX") return pin::JointModelPX();
  if (kind == "PY") return pin::JointModelPY();
  if (kind == "PZ") return pin::JointModelPZ();
  if (kind == "free") return pin::JointModelFreeFlyer();
  std::fprintf(stderr, "unknown joint kind %s\n", kind.c_str());
  std::exit(2);
}

static Problem read(const char * path)
{
  std::ifstream in(path);
  Problem p;
  Eigen::Vector3d g, com;
  int joints = 0, loops = 0;
  in >> g[0] >> g[1] >> g[2] >> joints;
  p.model.gravity.linear(g);
  for (int i = 1; i <= joints; ++i)
  {
    std::string kind;
    std::size_t parent = 0;
    double mass = 0, xx, xy, yy, xz, yz, zz;
    in >> kind >> parent;
    const pin::SE3 X = placement(in);
    in >> mass >> com[0] >> com[1] >> com[2] >> xx >> xy >> yy >> xz >> yz >> zz;
    const auto id = p.model.addJoint(parent, joint(kind), X, "j" + std::to_string(i));
    p.model.appendBodyToJoint(id, pin::Inertia(mass, com, pin::Symmetric3(xx, xy, yy, xz, yz, zz)), pin::SE3::Identity());
  }
  in >> loops;
  for (int i = 0; i < loops; ++i)
  {
    std::string kind;
    std::size_t one = 0, two = 0;
    in >> kind >> one;
    const pin::SE3 X1 = placement(in);
    in >> two;
    const pin::SE3 X2 = placement(in);
    const auto type = kind == "weld" ? pin::CONTACT_6D : pin::CONTACT_3D;
    p.constraints.emplace_back(type, p.model, one, X1, two, X2, pin::LOCAL);
    p.rows.push_back(indices(in));
  }
  p.drives = indices(in);
  p.q = numbers(in);
  p.v = numbers(in);
  p.tau = numbers(in);
  p.a = numbers(in);
  if (!in)
  {
    std::fprintf(stderr, "the model file is not complete\n");
    std::exit(2);
  }
  return p;
}
