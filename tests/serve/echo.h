// A server that says what reached it.
#pragma once

#include <fmt/format.h>

#include <future>
#include <string>
#include <thread>

#include "serve/client.h"
#include "serve/server.h"
#include "support/support.h"

namespace soft::test {

inline Limits short_limits() {
  Limits limits;
  limits.body_bytes = 100'000;
  limits.header_time = limits.body_time = std::chrono::milliseconds(300);
  limits.idle_time = std::chrono::milliseconds(1'000);
  limits.linger_time = std::chrono::milliseconds(1'000);
  return limits;
}

// Answers "METHOD target (bytes of body)". A request for /held waits until release();
// /large is more than the kernel holds for a client that does not read.
class Echo {
 public:
  explicit Echo(const Limits& limits = short_limits()) : Echo({"127.0.0.1", 0}, limits) {}
  explicit Echo(const Address& address, const Limits& limits = short_limits(),
                Journal* journal = nullptr)
      : server_(address, limits, metrics, journal), port_(server_.port()) {
    thread_ = std::thread([this] {
      answered_all_ = server_.run(
          [this](const Request& request, const Reply& reply) { answer(request, reply); });
    });
  }
  ~Echo() {
    release();
    end();
  }

  int port() const { return port_; }
  void drain() { server_.drain_soon(); }
  void wait() { thread_.join(); }
  void end() {
    if (!thread_.joinable()) return;
    drain();
    wait();
  }
  bool answered_all() const { return answered_all_; }  // after it has ended
  bool given_up() const { return patience_->over(); }  // on the request that is held
  void await_held() { held_.get_future().wait(); }
  // Answers the request that is held, but keeps its reply as a worker does until its batch ends.
  void answer_held() {
    if (reply_ && !answered_) reply_({});
    answered_ = true;
  }
  void release() {
    answer_held();
    reply_ = nullptr;
  }

  Metrics metrics;

 private:
  void answer(const Request& request, const Reply& reply) {
    if (request.path() == "/held") {
      reply_ = reply;
      patience_ = request.patience;
      return held_.set_value();
    }
    Response response;
    response.body = request.method + " " + request.target + " (" +
                    std::to_string(request.body.size()) + ")" + (request.late ? " late" : "");
    if (request.path() == "/host") response.body = request.host;
    if (request.path() == "/large") response.body.assign(size_t{64} << 20, 'x');
    reply(response);
  }

  Server server_;
  int port_;
  Reply reply_;
  std::shared_ptr<Patience> patience_;
  bool answered_all_ = false;
  bool answered_ = false;
  std::promise<void> held_;
  std::thread thread_;
};

inline std::string chunked(size_t chunks, size_t size) {
  std::string text = "POST /c HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (size_t i = 0; i < chunks; ++i) {
    text += fmt::format("{:x}\r\n{}\r\n", size, std::string(size, 'x'));
  }
  return text + "0\r\n\r\n";
}

}  // namespace soft::test
