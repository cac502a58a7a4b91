// A mock: a node, a publisher that prints and a subscription that hears one message.
#pragma once
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

namespace rclcpp
{
class Logger
{
};

template <class Message>
class Publisher
{
public:
  using SharedPtr = std::shared_ptr<Publisher>;
  void publish(const Message & m)
  {
    for (std::size_t i = 0; i < m.name.size(); ++i) std::printf("%s %.12g %.12g\n", m.name[i].c_str(), m.position[i], m.velocity[i]);
  }
};

template <class Message>
class Subscription
{
public:
  using SharedPtr = std::shared_ptr<Subscription>;
  explicit Subscription(std::function<void(const Message &)> call) : call_(call) {}
  std::function<void(const Message &)> call_;
};

class Node
{
public:
  explicit Node(const std::string &) {}
  virtual ~Node() = default;
  Logger get_logger() const { return {}; }

  template <class Message>
  typename Publisher<Message>::SharedPtr create_publisher(const std::string &, int)
  {
    return std::make_shared<Publisher<Message>>();
  }

  template <class Message, class Call>
  typename Subscription<Message>::SharedPtr create_subscription(const std::string &, int, Call && call)
  {
    hear_ = [call]() {
      Message m;
      m.name = {"other", "A"};
      m.position = {0.0, 1.3};
      m.velocity = {0.0, 2.0};
      call(m);
    };
    return std::make_shared<Subscription<Message>>(call);
  }

  std::function<void()> hear_;
};

inline void init(int, char **) {}
inline void shutdown() {}
inline void spin(std::shared_ptr<Node> node) { node->hear_(); }
}  // namespace rclcpp

#define RCLCPP_WARN(logger, ...) (static_cast<void>(logger), std::fprintf(stderr, __VA_ARGS__))
