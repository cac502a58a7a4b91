// A mock: the fields of the message.
#pragma once
#include <string>
#include <vector>

namespace std_msgs
{
namespace msg
{
struct Header
{
  std::string frame_id;
};
}  // namespace msg
}  // namespace std_msgs

namespace sensor_msgs
{
namespace msg
{
struct JointState
{
  std_msgs::msg::Header header;
  std::vector<std::string> name;
  std::vector<double> position, velocity, effort;
};
}  // namespace msg
}  // namespace sensor_msgs
