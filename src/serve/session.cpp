#include "serve/session.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "base/error.h"
#include "base/log.h"

namespace soft {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

constexpr size_t kDiscardedAtOnce = 4096;
constexpr size_t kMostDiscarded = size_t{64} << 20;
constexpr size_t kReadAhead = size_t{32}
                              << 10;  // beyond the headers; holds what follows the chunks

}  // namespace

Session::Session(asio::ip::tcp::socket socket, Server& server, bool crowded)
    : socket_(std::move(socket)),
      server_(server),
      deadline_(socket_.get_executor()),
      buffer_(server.limits_.header_bytes + kReadAhead),
      crowded_(crowded) {
  Code ignored;
  client_ = socket_.remote_endpoint(ignored).address().to_string();
  server_.enter(this);
}

Session::~Session() {
  server_.leave(this);
  try {
    set_active(false);
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
  set_state(State::kClosed);
  deadline_.cancel();
  socket_.close(ignored);
  server_.leave(this);  // now, though a worker may still know of it
  set_active(false);
}

bool Session::may_go() const {
  if (state_ == State::kIdle || state_ == State::kLeaving) return true;
  const bool may_stall = state_ == State::kReading || state_ == State::kWriting;
  return may_stall && Clock::now() - since_ > server_.limits_.stall_time;
}

void Session::set_state(State state) {
  state_ = state;
  since_ = Clock::now();
}

void Session::set_deadline(std::chrono::milliseconds time) {
  expired_ = false;
  deadline_.expires_after(time);
  deadline_.async_wait([weak = weak_from_this()](Code code) {
    const auto self = weak.lock();
    const bool replaced = code || !self || self->deadline_.expiry() > Clock::now();
    if (replaced) return;
    Code ignored;
    self->expired_ = true;
    if (self->state_ == State::kAnswering && self->turn_ % 2 == 1) return self->overdue();
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

void Session::refuse(int status, const std::string& message) {
  last_ = true;
  send(error_response(status, message));
}

void Session::dispatch() {
  request_.body.resize(filled_);
  if (crowded_ && !is_health_check(request_.path())) {
    return refuse(503, "too many connections are open; try again in a second");
  }
  set_state(State::kAnswering);
  const uint64_t turn = ++turn_;
  patience_ = std::make_shared<Patience>(Clock::now() + server_.limits_.answer_time);
  request_.patience = patience_;
  set_deadline(server_.limits_.answer_time);
  // The guard keeps the server running while nothing but a worker knows of the request.
  auto guard =
      std::make_shared<asio::executor_work_guard<asio::any_io_executor>>(socket_.get_executor());
  // The session is handed back whole: it may end on the server's thread only, never on a worker's.
  server_.handler_(std::move(request_),
                   [self = shared_from_this(), guard, turn](Response response) mutable {
                     const auto executor = self->socket_.get_executor();
                     asio::post(executor, [self = std::move(self), guard = std::move(guard), turn,
                                           response = std::move(response)]() mutable {
                       if (self->turn_ == turn) self->send(std::move(response));
                     });
                   });
}

// The worker may be busy for longer; its answer will find that another turn has begun.
void Session::overdue() {
  patience_->abandon();
  refuse(503, fmt::format("not answered within {} s; try again later, or with a smaller picture",
                          server_.limits_.answer_time.count() / 1000));
}

void Session::send(Response response) {
  if (state_ == State::kClosed) return;
  turn_ += turn_ % 2;  // even: nothing is waited for
  set_state(State::kWriting);
  last_ = last_ || server_.metrics_.draining;
  route_ = response.route;
  response_bytes_ = response.body.size();
  response_ = {static_cast<http::status>(response.status), 11};
  response_.set(http::field::server, "soft");
  response_.set(http::field::date, http_date(std::chrono::system_clock::now()));
  response_.set(http::field::content_type, response.content_type);
  for (const auto& [name, value] : response.headers) response_.set(name, value);
  if (response.status == 503) response_.set(http::field::retry_after, "1");
  response_.keep_alive(!last_);
  response_.content_length(response.body.size());
  if (!head_only_) response_.body() = std::move(response.body);
  set_deadline(server_.limits_.write_time);
  writing_.emplace(response_);
  write_some();
}

// Piece by piece: who does not take what was asked for is seen to stall.
void Session::write_some() {
  http::async_write_some(socket_, *writing_, [self = shared_from_this()](Code code, size_t) {
    if (code || self->writing_->is_done()) return self->sent(code);
    self->set_state(State::kWriting);
    self->write_some();
  });
}

void Session::sent(Code code) {
  const std::chrono::duration<double> took = Clock::now() - began_;
  server_.metrics_.count_request(route_, response_.result_int(), took.count());
  note_visit(took.count());
  if (code) return close();
  if (last_) return linger();
  await_request(server_.limits_.idle_time);
}

void Session::note_visit(double seconds) const {
  if (server_.journal_ == nullptr) return;
  server_.journal_->visit({client_, first_line_[0], first_line_[1],
                           static_cast<int>(response_.result_int()),
                           head_only_ ? 0 : response_bytes_, 1000 * seconds});
}

// Closing while the client still sends would make its kernel drop our answer unread. So only our
// side is closed first, and what arrives is thrown away until the client closes, too.
void Session::linger() {
  Code ignored;
  set_state(State::kLeaving);
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  set_deadline(server_.limits_.linger_time);
  buffer_.clear();
  std::string().swap(request_.body);
  discard();
}

void Session::discard() {
  socket_.async_read_some(buffer_.prepare(kDiscardedAtOnce),
                          [self = shared_from_this()](Code code, size_t count) {
                            self->discarded_ += count;
                            const bool enough = self->discarded_ > kMostDiscarded;
                            if (code || enough) return self->close();
                            self->discard();
                          });
}

}  // namespace soft
