// A mock with the fields of ros2_control that loaders read.
#pragma once
#include <string>
#include <vector>

namespace hardware_interface
{
struct JointInfo
{
  std::string name;
  std::string role;
};
struct ActuatorInfo
{
  std::string name;
  std::string role;
};
struct TransmissionInfo
{
  std::string name;
  std::string type;
  std::vector<JointInfo> joints;
  std::vector<ActuatorInfo> actuators;
};
}  // namespace hardware_interface
