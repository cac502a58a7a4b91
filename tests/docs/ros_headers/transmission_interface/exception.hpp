// A mock.
#pragma once
#include <exception>
#include <string>

namespace transmission_interface
{
class Exception : public std::exception
{
public:
  explicit Exception(const std::string & message) : message_(message) {}
  const char * what() const noexcept override { return message_.c_str(); }

private:
  std::string message_;
};
}  // namespace transmission_interface
