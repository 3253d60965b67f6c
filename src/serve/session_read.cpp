// From the first byte of a request to its last.
#include <algorithm>
#include <boost/asio/write.hpp>

#include "base/error.h"
#include "serve/session.h"

namespace soft {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

constexpr size_t kFirstRead = 4096;
constexpr uint64_t kFirstBody = uint64_t{16} << 10;
constexpr size_t kMostAtOnce = size_t{64} << 10;  // of a body, before its progress is noted

std::string text_of(boost::beast::string_view view) { return {view.data(), view.size()}; }

// A proxy's form, "http://host:80/path?query": the host inside counts, not the header.
void split_target(Request& request) {
  const size_t scheme = request.target.rfind("http://", 0) == 0    ? 7
                        : request.target.rfind("https://", 0) == 0 ? 8
                                                                   : 0;
  if (scheme == 0) return;
  const size_t end = std::min(request.target.size(), request.target.find_first_of("/?", scheme));
  request.host = request.target.substr(scheme, end - scheme);
  request.target.erase(0, end);
  if (request.target.empty() || request.target.front() != '/') request.target.insert(0, "/");
}

}  // namespace

// Nothing is known of the request yet: the connection may be closed without a word.
void Session::await_request(std::chrono::milliseconds time) {
  set_active(false);
  if (buffer_.size() > 0) return begin_request();  // pipelined
  set_state(State::kIdle);
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
  set_state(State::kReading);
  began_ = Clock::now();
  head_only_ = false;
  request_ = {};
  filled_ = 0;
  for (std::string& word : first_line_) word.clear();
  parser_.emplace();
  parser_->header_limit(static_cast<uint32_t>(server_.limits_.header_bytes));
  parser_->body_limit(server_.limits_.body_bytes);
  set_deadline(server_.limits_.header_time);
  read_header();
}

void Session::read_header() {
  http::async_read_header(socket_, buffer_, *parser_,
                          [self = shared_from_this()](Code code, size_t) {
                            if (code) return self->failed_reading(code, "headers");
                            self->take_header();
                          });
}

// What stands behind a chunked body may not change what stood before it, so it is all taken now.
void Session::take_header() {
  const auto& header = parser_->get();
  request_.method = text_of(header.method_string());
  request_.target = text_of(header.target());
  request_.content_type = text_of(header[http::field::content_type]);
  request_.host = text_of(header[http::field::host]);
  request_.origin = text_of(header[http::field::origin]);
  request_.late = late_;
  last_ = !header.keep_alive() || crowded_;
  head_only_ = header.method() == http::verb::head;
  first_line_[0] = request_.method;
  first_line_[1] = request_.target;
  const auto hosts = header.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && header.version() >= 11)) {
    return refuse(400, fmt::format("there are {} Host headers; send one", hosts));
  }
  split_target(request_);
  set_state(State::kReading);
  set_deadline(server_.limits_.body_time);
  const bool asks = boost::beast::iequals(header[http::field::expect], "100-continue");
  asks ? invite_body() : read_body();
}

void Session::invite_body() {
  static const std::string kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(socket_, asio::buffer(kGoOn), [self = shared_from_this()](Code code, size_t) {
    code ? self->close() : self->read_body();
  });
}

// Makes room for twice as much as has come, out of the memory of all bodies: what is only announced
// takes nothing from others.
bool Session::grow_body() {
  const auto announced = parser_->content_length();
  const uint64_t most = announced ? *announced : server_.limits_.body_bytes;
  const uint64_t size = std::min(std::max<uint64_t>(2 * filled_, kFirstBody), most + 1);
  if (size <= request_.body.size()) return true;
  if (!server_.take(size - held_)) return false;
  held_ = size;
  request_.body.resize(size);
  return true;
}

void Session::read_body() {
  if (parser_->is_done()) return dispatch();
  if (filled_ == request_.body.size() && !grow_body()) {
    return refuse(503, "too many pictures are on their way; try again in a second");
  }
  auto& room = parser_->get().body();
  room.data = request_.body.data() + filled_;
  room.size = offered_ = std::min(request_.body.size() - filled_, kMostAtOnce);
  room.more = true;
  http::async_read(socket_, buffer_, *parser_,
                   [self = shared_from_this()](Code code, size_t) { self->took_body(code); });
}

void Session::took_body(Code code) {
  filled_ += offered_ - parser_->get().body().size;
  if (code == http::error::need_buffer) {
    set_state(State::kReading);  // there was progress
    return read_body();
  }
  code ? failed_reading(code, "body") : dispatch();
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

}  // namespace soft
