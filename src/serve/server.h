// HTTP on one thread, asynchronous, without any model: accepts connections, reads requests within
// limits, hands them to a handler and writes its responses. On SIGTERM or SIGINT it answers what it
// has begun to read, refuses what comes later, and returns.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "serve/http.h"
#include "serve/journal.h"
#include "serve/limits.h"
#include "serve/metrics.h"

namespace soft {

// Calls `reply` once, now or later, from any thread.
using Handler = std::function<void(Request request, Reply reply)>;

struct Address {
  std::string host = "127.0.0.1";  // an IP address, or localhost for both families
  int port = 8080;                 // 0: one that is free
};

class Session;

class Server {
 public:
  // Binds and listens; an Error says why it cannot. Requests are noted in the journal, if there is
  // one.
  Server(const Address& address, const Limits& limits, Metrics& metrics,
         Journal* journal = nullptr);
  ~Server();

  int port() const;
  // Until a signal, and then until the last answer; false when requests were given up.
  bool run(Handler handler);
  void drain();       // what the signal does; from the server's thread
  void drain_soon();  // the same from any thread

 private:
  friend class Session;
  using Acceptor = boost::asio::ip::tcp::acceptor;
  struct Entrance {  // an address that it listens on
    explicit Entrance(boost::asio::io_context& context) : acceptor(context), pause(context) {}
    Acceptor acceptor;
    boost::asio::steady_timer pause;  // of accepting
    bool accepting = false;           // waiting for a connection, or resting before the next
  };

  void listen(const Address& address);
  void open(const boost::asio::ip::address& ip, int port, const Address& asked);
  void accept_all() {
    for (Entrance& entrance : entrances_) accept(entrance);
  }
  void accept(Entrance& entrance);  // while there is room for connections
  void let_in(Entrance& entrance);
  void rest(Entrance& entrance);  // before it looks again
  size_t count(bool crowded) const;
  bool make_room(
      std::optional<bool> crowded = {});  // closes the idlest connection, or one of those
  void await_signal();
  void heard(int signal);
  void enter(Session* session);
  void leave(Session* session);
  void request_began(bool late);
  void request_ended(bool late);
  bool take(uint64_t body_bytes);
  void give_back(uint64_t body_bytes) { held_ -= body_bytes; }
  void leave_when_done();
  void close_door();
  void finish();
  void give_up();

  boost::asio::io_context context_{1};
  std::list<Entrance> entrances_;
  boost::asio::signal_set signals_{context_};
  boost::asio::steady_timer patience_{context_};  // ends a drain that takes too long
  boost::asio::steady_timer grace_{context_};     // lets late requests hear that they are refused
  const Limits limits_;
  Metrics& metrics_;
  Journal* journal_;
  Handler handler_;
  std::set<Session*> sessions_;
  std::chrono::steady_clock::time_point silent_until_;  // of a lack of descriptors
  uint64_t held_ = 0;                                   // bytes of bodies being read or answered
  size_t early_ = 0;      // requests being read, answered or written, begun before the signal,
  size_t late_ = 0;       // and after it
  bool leaving_ = false;  // the door is about to be closed,
  bool left_ = false;     // and was
  bool gave_up_ = false;
};

}  // namespace soft
