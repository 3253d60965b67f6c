#include "serve/server.h"

#include <boost/asio/post.hpp>
#include <csignal>

#include "base/error.h"
#include "base/log.h"
#include "serve/session.h"

namespace soft {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Code = boost::system::error_code;

constexpr std::chrono::milliseconds kGrace{100};
constexpr std::chrono::milliseconds kAcceptPause{50};

}  // namespace

Server::Server(const Address& address, const Limits& limits, Metrics& metrics)
    : limits_(limits), metrics_(metrics) {
  listen(address);
  signals_.add(SIGINT);  // from here on they wait for run(), even if it has not begun
  signals_.add(SIGTERM);
  await_signal();
}

// Sessions live in the operations that they wait for: these end now, before their server does.
Server::~Server() {
  finish();
  context_.restart();
  context_.poll();
}

void Server::listen(const Address& address) {
  Code code;
  const auto ip = asio::ip::make_address(address.host, code);
  if (code) {
    fail_usage("--host '{}' is no IP address; use 127.0.0.1, or 0.0.0.0 for all interfaces",
               address.host);
  }
  const tcp::endpoint endpoint(ip, static_cast<uint16_t>(address.port));
  const auto check = [&](const char* what) {
    if (!code) return;
    fail("cannot {} {}:{}: {}; choose another --port or --host", what, address.host, address.port,
         code.message());
  };
  acceptor_.open(endpoint.protocol(), code);
  check("open");
  acceptor_.set_option(tcp::acceptor::reuse_address(true), code);
  acceptor_.bind(endpoint, code);
  check("listen on");
  acceptor_.listen(asio::socket_base::max_listen_connections, code);
  check("listen on");
}

int Server::port() const { return acceptor_.local_endpoint().port(); }

void Server::run(Handler handler) {
  handler_ = std::move(handler);
  for (bool over = false; !over;) {
    try {
      accept();
      context_.run();
      over = true;
    } catch (const std::exception& error) {  // no memory for a body, say: one connection is lost
      log("a connection failed: {}", error.what());
    }
  }
}

void Server::accept() {
  if (accepting_ || !acceptor_.is_open() || sessions_.size() >= limits_.connections) return;
  acceptor_.async_accept([this](Code code, tcp::socket socket) {
    accepting_ = false;
    if (code && acceptor_.is_open()) return rest();
    if (code) return;
    std::make_shared<Session>(std::move(socket), *this)->start();
    accept();
  });
  accepting_ = true;
}

// Out of descriptors, say: some will come back.
void Server::rest() {
  pause_.expires_after(kAcceptPause);
  pause_.async_wait([this](Code) {
    accepting_ = false;
    accept();
  });
  accepting_ = true;
}

void Server::enter(Session* session) {
  sessions_.insert(session);
  metrics_.connections = static_cast<int64_t>(sessions_.size());
}

void Server::leave(Session* session) {
  sessions_.erase(session);
  metrics_.connections = static_cast<int64_t>(sessions_.size());
}

bool Server::take(uint64_t body_bytes) {
  if (body_bytes > limits_.all_bodies_bytes - held_) return false;
  held_ += body_bytes;
  return true;
}

void Server::await_signal() {
  signals_.async_wait([this](Code code, int) {
    if (code) return;
    if (metrics_.draining) return context_.stop();  // asked twice: at once
    drain();
    await_signal();
  });
}

void Server::drain() {
  log("ending; requests to answer: {}", early_);
  metrics_.draining = true;
  patience_.expires_after(limits_.drain_time);
  patience_.async_wait([this](Code code) {
    if (code) return;
    log("not answered in time and given up: {}", early_ + late_);
    context_.stop();
  });
  leave_when_done();
}

void Server::drain_soon() {
  asio::post(context_, [this] { drain(); });
}

void Server::request_began(bool late) { late ? ++late_ : ++early_; }

void Server::request_ended(bool late) {
  late ? --late_ : --early_;
  leave_when_done();
}

// The door stays open until all early requests are answered and a moment longer, so that clients
// are told to go elsewhere instead of finding it shut. Those who had come in by then are told, too.
void Server::leave_when_done() {
  if (!metrics_.draining || early_ > 0) return;
  if (left_ && late_ == 0) return finish();
  if (leaving_) return;
  leaving_ = true;
  grace_.expires_after(kGrace);
  grace_.async_wait([this](Code code) {
    if (!code) close_door();
  });
}

void Server::close_door() {
  Code code;
  acceptor_.non_blocking(true, code);
  while (!code) {  // connections that the kernel has accepted for us
    tcp::socket socket = acceptor_.accept(code);
    if (!code) std::make_shared<Session>(std::move(socket), *this)->start();
  }
  acceptor_.close(code);
  grace_.expires_after(kGrace);
  grace_.async_wait([this](Code ended) {
    left_ = true;
    if (!ended) leave_when_done();
  });
}

void Server::finish() {
  Code ignored;
  acceptor_.close(ignored);
  signals_.cancel(ignored);
  patience_.cancel();
  for (Session* session : sessions_) session->close();
}

}  // namespace soft
