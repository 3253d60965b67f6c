#include "serve/server.h"

#include <algorithm>
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
constexpr std::chrono::milliseconds kAcceptPause{20};
constexpr std::chrono::minutes kComplaintPause{1};

}  // namespace

Server::Server(const Address& address, const Limits& limits, Metrics& metrics, Journal* journal)
    : limits_(limits), metrics_(metrics), journal_(journal) {
  listen(address);
  signals_.add(SIGINT);  // from here on they wait for run(), even if it has not begun
  signals_.add(SIGTERM);
  signals_.add(SIGHUP);
  await_signal();
}

// Sessions live in the operations that they wait for: these end now, before their server does.
Server::~Server() {
  finish();
  context_.restart();
  context_.poll();
}

void Server::listen(const Address& address) {
  std::string host = address.host;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  if (host != "localhost") {
    Code code;
    const auto ip = asio::ip::make_address(host, code);
    if (code) {
      fail_usage(
          "--host '{}' is no IP address; use 127.0.0.1, ::1, localhost for both, or 0.0.0.0 "
          "for all interfaces",
          address.host);
    }
    return open(ip, address.port, address);
  }
  open(asio::ip::address_v4::loopback(), address.port, address);
  try {
    open(asio::ip::address_v6::loopback(), port(), address);
  } catch (const Error& error) {  // a machine without IPv6
    log("localhost is 127.0.0.1 alone: {}", error.what());
    entrances_.pop_back();
  }
}

void Server::open(const asio::ip::address& ip, int port, const Address& asked) {
  Code code;
  const auto check = [&](const char* what) {
    if (!code) return;
    fail("cannot {} {}:{}: {}; choose another --port or --host", what, asked.host, port,
         code.message());
  };
  const tcp::endpoint endpoint(ip, static_cast<uint16_t>(port));
  Acceptor& acceptor = entrances_.emplace_back(context_).acceptor;
  acceptor.open(endpoint.protocol(), code);
  check("open");
  acceptor.set_option(Acceptor::reuse_address(true), code);
  acceptor.bind(endpoint, code);
  check("listen on");
  acceptor.listen(asio::socket_base::max_listen_connections, code);
  check("listen on");
  acceptor.non_blocking(true, code);
}

int Server::port() const { return entrances_.front().acceptor.local_endpoint().port(); }

bool Server::run(Handler handler) {
  handler_ = std::move(handler);
  for (bool over = false; !over;) {
    try {
      accept_all();
      context_.run();
      over = true;
    } catch (const std::exception& error) {  // no memory for a body, say: one connection is lost
      log("a connection failed: {}", error.what());
    }
  }
  return !gave_up_;
}

// Waits until somebody knocks before it decides: nobody is sent away for a newcomer who never
// comes.
void Server::accept(Entrance& entrance) {
  if (entrance.accepting || !entrance.acceptor.is_open()) return;
  entrance.accepting = true;
  entrance.acceptor.async_wait(Acceptor::wait_read, [this, &entrance](Code code) {
    entrance.accepting = false;
    if (!entrance.acceptor.is_open()) return;
    const bool full = count(false) >= limits_.connections && count(true) >= limits_.spare_places;
    if (code || (full && !make_room())) return rest(entrance);
    let_in(entrance);
  });
}

void Server::let_in(Entrance& entrance) {
  Code code;
  tcp::socket socket = entrance.acceptor.accept(code);
  if (code == asio::error::would_block || code == asio::error::connection_aborted) {
    return accept(entrance);
  }
  if (code) {  // out of descriptors, say: the idlest connection's comes back at once
    if (const auto now = Session::Clock::now(); now > silent_until_) {
      silent_until_ = now + kComplaintPause;
      log("cannot accept connections: {}; {} are open; raise `ulimit -n` or lower "
          "--max-connections",
          code.message(), sessions_.size());
    }
    make_room();
    return rest(entrance);
  }
  const bool crowded = count(false) >= limits_.connections && !make_room(false);
  std::make_shared<Session>(std::move(socket), *this, crowded)->start();
  accept(entrance);
}

void Server::rest(Entrance& entrance) {
  entrance.accepting = true;
  entrance.pause.expires_after(kAcceptPause);
  entrance.pause.async_wait([this, &entrance](Code) {
    entrance.accepting = false;
    accept(entrance);
  });
}

size_t Server::count(bool crowded) const {
  return static_cast<size_t>(
      std::count_if(sessions_.begin(), sessions_.end(),
                    [&](const Session* session) { return session->crowded() == crowded; }));
}

// Who came for a health check does not go for somebody else's sake: its place is not theirs.
bool Server::make_room(std::optional<bool> crowded) {
  Session* idlest = nullptr;
  for (Session* session : sessions_) {
    if (!session->may_go() || session->crowded() != crowded.value_or(session->crowded())) continue;
    if (idlest == nullptr || session->since() < idlest->since()) idlest = session;
  }
  if (idlest != nullptr) idlest->close();
  return idlest != nullptr;
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
  signals_.async_wait([this](Code code, int signal) {
    if (code) return;
    heard(signal);
    await_signal();
  });
}

// A hang-up means new log files to those who keep some, and the end of the terminal to others.
void Server::heard(int signal) {
  if (signal == SIGHUP && journal_ != nullptr && journal_->has_files()) return journal_->reopen();
  if (metrics_.draining) return give_up();  // asked twice: at once
  drain();
}

void Server::give_up() {
  log("not answered and given up: {}", early_ + late_);
  gave_up_ = early_ + late_ > 0;
  context_.stop();
}

void Server::drain() {
  log("ending; requests to answer: {}", early_);
  metrics_.draining = true;
  patience_.expires_after(limits_.drain_time);
  patience_.async_wait([this](Code code) {
    if (!code) give_up();
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
  for (Entrance& entrance : entrances_) {
    Code code;
    while (!code) {  // connections that the kernel has accepted for us
      tcp::socket socket = entrance.acceptor.accept(code);
      if (!code) std::make_shared<Session>(std::move(socket), *this, false)->start();
    }
    entrance.acceptor.close(code);
  }
  grace_.expires_after(kGrace);
  grace_.async_wait([this](Code ended) {
    left_ = true;
    if (!ended) leave_when_done();
  });
}

void Server::finish() {
  Code ignored;
  for (Entrance& entrance : entrances_) entrance.acceptor.close(ignored);
  signals_.cancel(ignored);
  patience_.cancel();
  const std::set<Session*> all = sessions_;  // each leaves when it is closed
  for (Session* session : all) session->close();
  for (Entrance& entrance : entrances_) entrance.pause.cancel();
  context_.stop();  // a worker may still know of a request that was answered without it
}

}  // namespace soft
