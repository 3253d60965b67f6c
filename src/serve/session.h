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

#include "serve/server.h"

namespace soft {

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(boost::asio::ip::tcp::socket socket, Server& server);
  ~Session();

  void start();
  void close();

 private:
  using Code = boost::system::error_code;
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  void await_request(std::chrono::milliseconds time);
  void begin_request();
  void read_header();
  void invite_body();  // 100 Continue
  void read_body();
  void dispatch();
  void send(Response response);
  void sent(Code code);
  void linger();
  void discard();

  void failed_reading(Code code, const char* what);
  void refuse(int status, const std::string& message);
  void set_deadline(std::chrono::milliseconds time);
  void set_active(bool active);
  bool hold_body();

  boost::asio::ip::tcp::socket socket_;
  Server& server_;
  boost::asio::steady_timer deadline_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  boost::beast::http::response<boost::beast::http::string_body> response_;
  std::chrono::steady_clock::time_point began_;  // the present request
  std::string_view route_;                       // of the response being written
  uint64_t held_ = 0;                            // bytes of the server's memory for the body
  bool active_ = false;
  bool expired_ = false;    // the deadline has passed
  bool late_ = false;       // the request began after the signal to end
  bool head_only_ = false;  // the response goes without its body
  bool last_ = false;       // the connection ends behind this response,
  size_t discarded_ = 0;    // bytes that came after it
};

}  // namespace soft
