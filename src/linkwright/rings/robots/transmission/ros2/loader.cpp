// HEAD
// Loader of CLASS for pluginlib: names of actuators and joints are those of <transmission> in the URDF, in its order.
#include <memory>
#include <string>
#include <vector>

#include "NAME.hpp"
#include "hardware_interface/hardware_info.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "transmission_interface/transmission_loader.hpp"

namespace SPACE
{
class CLASSLoader : public transmission_interface::TransmissionLoader
{
public:
  std::shared_ptr<transmission_interface::Transmission> load(const hardware_interface::TransmissionInfo & info) override
  {
    std::vector<std::string> actuators, joints;
    for (const auto & actuator : info.actuators) actuators.push_back(actuator.name);
    for (const auto & joint : info.joints) joints.push_back(joint.name);
    if (actuators.size() != NAME_n || joints.size() != NAME_n) return nullptr;
    return std::make_shared<CLASS>(actuators, joints);
  }
};
}  // namespace SPACE

PLUGINLIB_EXPORT_CLASS(SPACE::CLASSLoader, transmission_interface::TransmissionLoader)
