#include "serve/session.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "base/error.h"
#include "base/log.h"

namespace soft {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

constexpr size_t kFirstRead = 4096;
constexpr size_t kMostDiscarded = size_t{64} << 20;

std::string text_of(boost::beast::string_view view) { return {view.data(), view.size()}; }

}  // namespace

Session::Session(asio::ip::tcp::socket socket, Server& server)
    : socket_(std::move(socket)), server_(server), deadline_(socket_.get_executor()) {
  server_.enter(this);
}

Session::~Session() {
  server_.leave(this);
  try {
    set_active(false);
    server_.accept();
  } catch (const std::exception& error) {
    log("a connection did not end well: {}", error.what());
  }
}

void Session::start() {
  Code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  await_request(server_.limits_.header_time);  // a client that connects has something to say
}

void Session::close() {
  Code ignored;
  deadline_.cancel();
  socket_.close(ignored);
}

void Session::set_deadline(std::chrono::milliseconds time) {
  expired_ = false;
  deadline_.expires_after(time);
  deadline_.async_wait([weak = weak_from_this()](Code code) {
    const auto self = weak.lock();
    const bool replaced =
        code || !self || self->deadline_.expiry() > std::chrono::steady_clock::now();
    if (replaced) return;
    Code ignored;
    self->expired_ = true;
    self->socket_.cancel(ignored);
  });
}

void Session::set_active(bool active) {
  if (active == active_) return;
  active_ = active;
  if (active) return server_.request_began(late_);
  server_.give_back(std::exchange(held_, 0));
  server_.request_ended(late_);
}

// Takes the body's share of the server's memory before the first byte of it is read.
bool Session::hold_body() {
  const auto announced = parser_->content_length();
  const uint64_t bytes = announced            ? *announced
                         : parser_->chunked() ? server_.limits_.body_bytes
                                              : 0;
  if (!server_.take(bytes)) return false;
  held_ = bytes;
  return true;
}

// Nothing is known of the request yet: the connection may be closed without a word.
void Session::await_request(std::chrono::milliseconds time) {
  set_active(false);
  if (buffer_.size() > 0) return begin_request();  // pipelined
  set_deadline(time);
  socket_.async_read_some(buffer_.prepare(kFirstRead),
                          [self = shared_from_this()](Code code, size_t count) {
                            if (code) return self->close();
                            self->buffer_.commit(count);
                            self->begin_request();
                          });
}

void Session::begin_request() {
  late_ = server_.metrics_.draining;
  set_active(true);
  began_ = std::chrono::steady_clock::now();
  head_only_ = false;
  parser_.emplace();
  parser_->header_limit(static_cast<uint32_t>(server_.limits_.header_bytes));
  parser_->body_limit(server_.limits_.body_bytes);
  set_deadline(server_.limits_.header_time);
  read_header();
}

void Session::read_header() {
  http::async_read_header(
      socket_, buffer_, *parser_, [self = shared_from_this()](Code code, size_t) {
        if (code) return self->failed_reading(code, "headers");
        if (!self->hold_body()) {
          return self->refuse(503, "too many pictures are on their way; try again in a second");
        }
        self->set_deadline(self->server_.limits_.body_time);
        const auto& header = self->parser_->get();
        const bool asks = boost::beast::iequals(header[http::field::expect], "100-continue");
        asks ? self->invite_body() : self->read_body();
      });
}

void Session::invite_body() {
  static const std::string kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(socket_, asio::buffer(kGoOn), [self = shared_from_this()](Code code, size_t) {
    code ? self->close() : self->read_body();
  });
}

void Session::read_body() {
  http::async_read(socket_, buffer_, *parser_, [self = shared_from_this()](Code code, size_t) {
    code ? self->failed_reading(code, "body") : self->dispatch();
  });
}

void Session::failed_reading(Code code, const char* what) {
  if (expired_) {
    return refuse(408, fmt::format("the {} did not arrive in time; send faster", what));
  }
  if (code == http::error::body_limit) {
    return refuse(413, fmt::format("the body has more than {} MiB; send a smaller picture",
                                   server_.limits_.body_bytes >> 20));
  }
  if (code == http::error::header_limit || code == http::error::buffer_overflow) {
    return refuse(431, fmt::format("the headers have more than {} KiB; send fewer",
                                   server_.limits_.header_bytes >> 10));
  }
  const bool gone = code == http::error::end_of_stream || code == http::error::partial_message;
  if (gone || code.category() != http::make_error_code(http::error::bad_method).category()) {
    return close();  // nobody is there to read an answer
  }
  refuse(400, fmt::format("this is not HTTP: {}", code.message()));
}

void Session::refuse(int status, const std::string& message) {
  last_ = true;
  send(error_response(status, message));
}

void Session::dispatch() {
  deadline_.cancel();
  auto message = parser_->release();
  last_ = !message.keep_alive();
  head_only_ = message.method() == http::verb::head;
  Request request{text_of(message.method_string()), text_of(message.target()),
                  text_of(message[http::field::content_type]), std::move(message.body()), late_};
  // The guard keeps the server running while nothing but a worker knows of the request.
  auto guard =
      std::make_shared<asio::executor_work_guard<asio::any_io_executor>>(socket_.get_executor());
  // The session is handed back whole: it may end on the server's thread only, never on a worker's.
  server_.handler_(
      std::move(request), [self = shared_from_this(), guard](Response response) mutable {
        const auto executor = self->socket_.get_executor();
        asio::post(executor,
                   [self = std::move(self), guard = std::move(guard),
                    response = std::move(response)]() mutable { self->send(std::move(response)); });
      });
}

void Session::send(Response response) {
  last_ = last_ || server_.metrics_.draining;
  route_ = response.route;
  response_ = {static_cast<http::status>(response.status), 11};
  response_.set(http::field::server, "soft");
  response_.set(http::field::content_type, response.content_type);
  for (const auto& [name, value] : response.headers) response_.set(name, value);
  if (response.status == 503) response_.set(http::field::retry_after, "1");
  response_.keep_alive(!last_);
  response_.content_length(response.body.size());
  if (!head_only_) response_.body() = std::move(response.body);
  set_deadline(server_.limits_.write_time);
  http::async_write(socket_, response_,
                    [self = shared_from_this()](Code code, size_t) { self->sent(code); });
}

void Session::sent(Code code) {
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
  server_.metrics_.count_request(route_, response_.result_int(), took.count());
  if (code) return close();
  if (last_) return linger();
  await_request(server_.limits_.idle_time);
}

// Closing while the client still sends would make its kernel drop our answer unread. So only our
// side is closed first, and what arrives is thrown away until the client closes, too.
void Session::linger() {
  Code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  set_deadline(server_.limits_.linger_time);
  buffer_.clear();
  discard();
}

void Session::discard() {
  socket_.async_read_some(buffer_.prepare(size_t{64} << 10),
                          [self = shared_from_this()](Code code, size_t count) {
                            self->discarded_ += count;
                            const bool enough = self->discarded_ > kMostDiscarded;
                            if (code || enough) return self->close();
                            self->discard();
                          });
}

}  // namespace soft
