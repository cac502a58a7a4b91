// HEAD
// A transmission of ros2_control. Actuators: MOTORS. Joints: JOINTS. SI units, radians; zero as in the model.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "NAME.h"
#include "hardware_interface/types/hardware_interface_type_values.hpp"
#include "transmission_interface/accessor.hpp"
#include "transmission_interface/exception.hpp"
#include "transmission_interface/transmission.hpp"

namespace SPACE
{
// Positions, velocities and efforts between actuators and joints. Where the linkage does not reach a position, or in a dead center, the last
// values stay. Nothing is allocated after configure.
class CLASS : public transmission_interface::Transmission
{
public:
  // Names as in the URDF, in the order of the actuators and joints above.
  CLASS(const std::vector<std::string> & actuators = {ACTUATOR_NAMES}, const std::vector<std::string> & joints = {JOINT_NAMES})
  : actuator_names_(actuators), joint_names_(joints)
  {
    for (int i = 0; i < NAME_nq; ++i) q_[i] = NAME_start[i];
  }

  void configure(
    const std::vector<transmission_interface::JointHandle> & joints,
    const std::vector<transmission_interface::ActuatorHandle> & actuators) override
  {
    joint_ = Side<transmission_interface::JointHandle>(joints, joint_names_);
    actuator_ = Side<transmission_interface::ActuatorHandle>(actuators, actuator_names_);
  }

  void actuator_to_joint() override
  {
    double in[NAME_n], out[NAME_n];
    if (actuator_.position.read(in)) {
      if (NAME_to_joints(q_, in, out) != 0) return;
      joint_.position.write(out);
    }
    NAME_map map;
    if (NAME_at(q_, nullptr, &map) != 0) return;
    if (actuator_.velocity.read(in)) joint_.velocity.write(times(map.K, in, out));
    if (actuator_.effort.read(in)) {
      NAME_joint_torques(&map, in, out);
      joint_.effort.write(out);
    }
  }

  void joint_to_actuator() override
  {
    double in[NAME_n], out[NAME_n];
    if (joint_.position.read(in)) {
      if (NAME_to_motors(q_, in, out) != 0) return;
      actuator_.position.write(out);
    }
    NAME_map map;
    if (NAME_at(q_, nullptr, &map) != 0) return;
    if (joint_.velocity.read(in)) actuator_.velocity.write(times(map.J, in, out));
    if (joint_.effort.read(in)) {
      NAME_motor_torques(&map, in, out);
      actuator_.effort.write(out);
    }
  }

  std::size_t num_actuators() const override { return NAME_n; }
  std::size_t num_joints() const override { return NAME_n; }

  // All coordinates of the linkage, passive joints too: places are NAME_back_at_q_... of NAME.h.
  const double * coordinates() const { return q_; }

private:
  static const double * times(const double (&A)[NAME_n][NAME_n], const double * x, double * y)
  {
    for (int i = 0; i < NAME_n; ++i) {
      y[i] = 0.0;
      for (int k = 0; k < NAME_n; ++k) y[i] += A[i][k] * x[k];
    }
    return y;
  }

  // One interface of all handles of a side, or none.
  template <class Handle>
  struct Row
  {
    std::vector<Handle> handles;
    bool read(double * x) const
    {
      for (std::size_t i = 0; i < handles.size(); ++i) x[i] = handles[i].get_value();
      return !handles.empty();
    }
    void write(const double * x)
    {
      for (std::size_t i = 0; i < handles.size(); ++i) handles[i].set_value(x[i]);
    }
  };

  template <class Handle>
  struct Side
  {
    Side() = default;
    Side(const std::vector<Handle> & handles, const std::vector<std::string> & names)
    {
      if (names.size() != NAME_n) throw transmission_interface::Exception("CLASS needs COUNT actuators and COUNT joints.");
      position.handles = transmission_interface::get_ordered_handles(handles, names, hardware_interface::HW_IF_POSITION);
      velocity.handles = transmission_interface::get_ordered_handles(handles, names, hardware_interface::HW_IF_VELOCITY);
      effort.handles = transmission_interface::get_ordered_handles(handles, names, hardware_interface::HW_IF_EFFORT);
      for (const auto * row : {&position, &velocity, &effort})
        if (!row->handles.empty() && row->handles.size() != NAME_n)
          throw transmission_interface::Exception("CLASS: an interface is there for some of the joints or actuators only.");
    }
    Row<Handle> position, velocity, effort;
  };

  std::vector<std::string> actuator_names_, joint_names_;
  double q_[NAME_nq];
  Side<transmission_interface::JointHandle> joint_;
  Side<transmission_interface::ActuatorHandle> actuator_;
};
}  // namespace SPACE
