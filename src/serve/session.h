// One connection: requests one after another, each with its deadlines; pipelined ones wait their
// turn.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "serve/server.h"

namespace soft {

class Session : public std::enable_shared_from_this<Session> {
 public:
  using Clock = std::chrono::steady_clock;

  // `crowded`: it came when all places were taken, and is heard only if it asks after our health.
  Session(boost::asio::ip::tcp::socket socket, Server& server, bool crowded);
  ~Session();

  void start();
  void close();

  // Whether it may be closed to make room for another: it says nothing, or speaks or listens too
  // slowly.
  bool may_go() const;
  Clock::time_point since() const { return since_; }  // the last thing that happened
  bool crowded() const { return crowded_; }

 private:
  using Code = boost::system::error_code;
  using Parser = boost::beast::http::request_parser<boost::beast::http::buffer_body>;
  enum class State { kIdle, kReading, kAnswering, kWriting, kLeaving, kClosed };

  void await_request(std::chrono::milliseconds time);
  void begin_request();
  void read_header();
  void take_header();
  void invite_body();  // 100 Continue
  void read_body();
  void took_body(Code code);
  bool grow_body();
  void dispatch();
  void overdue();
  void send(Response response);
  void write_some();
  void sent(Code code);
  void linger();
  void discard();

  void failed_reading(Code code, const char* what);
  void refuse(int status, const std::string& message);
  void set_deadline(std::chrono::milliseconds time);
  void set_state(State state);
  void set_active(bool active);
  void note_visit(double seconds) const;

  boost::asio::ip::tcp::socket socket_;
  Server& server_;
  boost::asio::steady_timer deadline_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  Request request_;
  std::shared_ptr<Patience> patience_;
  size_t filled_ = 0, offered_ = 0;  // bytes of its body: read, and room for the next
  boost::beast::http::response<boost::beast::http::string_body> response_;
  std::optional<boost::beast::http::response_serializer<boost::beast::http::string_body>> writing_;
  Clock::time_point began_;  // the present request
  Clock::time_point since_ = Clock::now();
  State state_ = State::kIdle;
  std::string_view route_;     // of the response being written,
  size_t response_bytes_ = 0;  // and its body's length
  std::string client_;         // address
  std::string first_line_[2];  // method and target of the request, for the journal
  uint64_t held_ = 0;          // bytes of the server's memory for the body
  uint64_t turn_ = 0;          // counts the answers that are waited for
  const bool crowded_;
  bool active_ = false;
  bool expired_ = false;    // the deadline has passed
  bool late_ = false;       // the request began after the signal to end
  bool head_only_ = false;  // the response goes without its body
  bool last_ = false;       // the connection ends behind this response,
  size_t discarded_ = 0;    // bytes that came after it
};

}  // namespace soft
