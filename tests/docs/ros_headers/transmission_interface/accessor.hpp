// A mock: names of handles, and handles of one interface in the order of names.
#pragma once
#include <set>
#include <string>
#include <vector>

namespace transmission_interface
{
template <class T>
std::vector<std::string> get_names(const std::vector<T> & handles)
{
  std::set<std::string> names;
  for (const auto & handle : handles) names.insert(handle.get_prefix_name());
  return {names.begin(), names.end()};
}

template <typename T>
std::vector<T> get_ordered_handles(const std::vector<T> & handles, const std::vector<std::string> & names, const std::string & interface)
{
  std::vector<T> out;
  for (const auto & name : names)
    for (const auto & handle : handles)
      if (handle.get_prefix_name() == name && handle.get_interface_name() == interface && handle) out.push_back(handle);
  return out;
}
}  // namespace transmission_interface
