// HTTP on one thread, asynchronous, without any model: accepts connections, reads requests within
// limits, hands them to a handler and writes its responses. On SIGTERM or SIGINT it answers what it
// has begun to read, refuses what comes later, and returns.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "serve/crew.h"
#include "serve/http.h"
#include "serve/limits.h"
#include "serve/metrics.h"

namespace soft {

// Calls `reply` once, now or later, from any thread.
using Handler = std::function<void(Request request, Reply reply)>;

struct Address {
  std::string host = "127.0.0.1";
  int port = 8080;  // 0: one that is free
};

class Session;

class Server {
 public:
  // Binds and listens; an Error says why it cannot.
  Server(const Address& address, const Limits& limits, Metrics& metrics);
  ~Server();

  int port() const;
  void run(Handler handler);  // until a signal, and then until the last answer
  void drain();               // what the signal does; from the server's thread
  void drain_soon();          // the same from any thread

 private:
  friend class Session;

  void listen(const Address& address);
  void accept();  // while there is room for connections
  void rest();
  void await_signal();
  void enter(Session* session);
  void leave(Session* session);
  void request_began(bool late);
  void request_ended(bool late);
  bool take(uint64_t body_bytes);
  void give_back(uint64_t body_bytes) { held_ -= body_bytes; }
  void leave_when_done();
  void close_door();
  void finish();

  boost::asio::io_context context_{1};
  boost::asio::ip::tcp::acceptor acceptor_{context_};
  boost::asio::signal_set signals_{context_};
  boost::asio::steady_timer patience_{context_};  // ends a drain that takes too long
  boost::asio::steady_timer grace_{context_};     // lets late requests hear that they are refused
  boost::asio::steady_timer pause_{context_};     // of accepting
  const Limits limits_;
  Metrics& metrics_;
  Handler handler_;
  std::set<Session*> sessions_;
  uint64_t held_ = 0;       // bytes of bodies being read or answered
  size_t early_ = 0;        // requests being read, answered or written, begun before the signal,
  size_t late_ = 0;         // and after it
  bool accepting_ = false;  // waiting for a connection, or resting before the next
  bool leaving_ = false;    // the door is about to be closed,
  bool left_ = false;       // and was
};

}  // namespace soft
