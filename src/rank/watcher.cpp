#include "rank/watcher.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"

namespace soft {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr auto kBetweenSigns = 500ms;
constexpr auto kLook = 250ms;
constexpr size_t kLongestLine = 16'384;

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text.substr(0, kLongestLine / 2);
}

bool starts_with(const std::string& text, const std::string& start) {
  return text.rfind(start, 0) == 0;
}

}  // namespace

Watcher::Watcher(Watch watch, Descriptor socket) : watch_(std::move(watch)) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) fail("no pipe for the watcher of the ranks");
  woken_ = Descriptor(ends[0]);
  wake_ = Descriptor(ends[1]);
  here_.assign(watch_.names.size(), false);
  here_[watch_.rank] = true;
  spoke_ = Steady::now();
  if (leads()) {
    listener_ = std::move(socket);
    formed_ = here_.size() == 1;
  } else {
    send_all(socket, fmt::format("hello {} {}\n", watch_.secret, watch_.rank));
    peers_.push_back({std::move(socket), 0, "", Steady::now(), false});
  }
  thread_ = std::thread([this] { run(); });
}

Watcher::~Watcher() { stop("done"); }

void Watcher::end(const std::string& why) {
  const std::string text = one_line(fmt::format("{} ended: {}", watch_.names[watch_.rank], why));
  stop((leads() ? "lost " : "end ") + text);
}

void Watcher::stop(const std::string& parting) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!stop_) parting_ = parting;
    stop_ = true;
  }
  const char byte = 0;
  const bool woken = ::write(wake_.get(), &byte, 1) == 1;
  static_cast<void>(woken);  // it looks by itself now and then
  if (thread_.joinable() && thread_.get_id() != std::this_thread::get_id()) thread_.join();
}

std::vector<int> Watcher::wait_for_all(Deadline deadline) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_until(lock, deadline, [this] { return formed_ || !verdict_.empty(); });
  std::vector<int> missing;
  if (formed_) return missing;
  if (!leads()) return {0};
  for (size_t rank = 0; rank < here_.size(); ++rank) {
    if (!here_[rank]) missing.push_back(static_cast<int>(rank));
  }
  return missing;
}

std::string Watcher::verdict(std::chrono::milliseconds patience) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, patience, [this] { return !verdict_.empty(); });
  return verdict_;
}

void Watcher::run() {
  for (;;) {
    await(kLook);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!verdict_.empty()) return;
      if (stop_) break;
    }
    say_alive();
    check_silence();
  }
  leave();
}

// Reads whatever comes within this time.
void Watcher::await(std::chrono::milliseconds patience) {
  std::vector<pollfd> waiting{{woken_.get(), POLLIN, 0}};
  for (const Peer& peer : peers_)
    waiting.push_back({peer.gone ? -1 : peer.socket.get(), POLLIN, 0});
  if (listener_.ok()) waiting.push_back({listener_.get(), POLLIN, 0});
  if (::poll(waiting.data(), waiting.size(), static_cast<int>(patience.count())) <= 0) return;
  const size_t count = peers_.size();
  for (size_t i = 0; i < count; ++i) {
    if (waiting[i + 1].revents != 0) read(peers_[i]);
  }
  if (listener_.ok() && waiting.back().revents != 0) welcome();
  // Strangers who left.
  peers_.erase(std::remove_if(peers_.begin(), peers_.end(),
                              [](const Peer& peer) { return peer.gone && peer.rank < 0; }),
               peers_.end());
}

void Watcher::welcome() {
  Descriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.ok()) peers_.push_back({std::move(socket), -1, "", Steady::now(), false});
}

void Watcher::read(Peer& peer) {
  char bytes[4096];
  const ssize_t count = ::recv(peer.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0 || peer.inbox.size() > kLongestLine) {
    if (peer.rank >= 0 && !peer.gone) lose(peer, "is gone: its connection closed");
    peer.gone = true;
    return;
  }
  peer.heard = Steady::now();
  peer.inbox.append(bytes, static_cast<size_t>(count));
  for (size_t end; (end = peer.inbox.find('\n')) != std::string::npos;) {
    const std::string line = peer.inbox.substr(0, end);
    peer.inbox.erase(0, end + 1);
    obey(peer, line);
  }
}

void Watcher::obey(Peer& peer, const std::string& line) {
  if (peer.gone || line == "alive") return;
  if (peer.rank < 0) return greet(peer, line);
  if (line == "done") {
    peer.gone = true;
  } else if (starts_with(line, "end ") || starts_with(line, "lost ")) {
    peer.gone = true;
    const std::string text = line.substr(line.find(' ') + 1);
    if (leads()) tell_all("lost " + text);
    conclude(text);
  } else if (line == "formed") {
    const std::lock_guard<std::mutex> lock(mutex_);
    formed_ = true;
    changed_.notify_all();
  }
}

void Watcher::greet(Peer& peer, const std::string& line) {
  const std::string greeting = "hello " + watch_.secret + " ";
  const int rank = starts_with(line, greeting) ? std::atoi(line.c_str() + greeting.size()) : -1;
  bool all = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (rank < 1 || rank >= static_cast<int>(here_.size()) || here_[rank]) {
      peer.gone = true;
      return;
    }
    peer.rank = rank;
    here_[rank] = true;
    all = std::all_of(here_.begin(), here_.end(), [](bool here) { return here; });
  }
  if (!all) return;
  tell_all("formed");
  const std::lock_guard<std::mutex> lock(mutex_);
  formed_ = true;
  changed_.notify_all();
}

void Watcher::say_alive() {
  if (Steady::now() - spoke_ < kBetweenSigns) return;
  spoke_ = Steady::now();
  tell_all("alive");
}

void Watcher::check_silence() {
  for (const Peer& peer : peers_) {
    if (peer.gone || peer.rank < 0 || Steady::now() - peer.heard < watch_.timeout) continue;
    const double seconds = std::chrono::duration<double>(watch_.timeout).count();
    return lose(peer, fmt::format("is lost: nothing was heard of it for {:.3g} s", seconds));
  }
}

void Watcher::lose(const Peer& peer, const std::string& how) {
  const std::string text = fmt::format("{} {}", watch_.names[peer.rank], how);
  if (leads()) {
    for (const Peer& other : peers_) {
      if (&other != &peer && other.rank >= 0 && !other.gone) {
        send_all(other.socket, "lost " + text + "\n");
      }
    }
  }
  conclude(text);
}

void Watcher::conclude(const std::string& text) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stop_ || !verdict_.empty()) return;
    verdict_ = text;
    changed_.notify_all();
  }
  if (watch_.lost) watch_.lost(text);
}

void Watcher::tell_all(const std::string& line) {
  for (const Peer& peer : peers_) {
    if (peer.rank >= 0 && !peer.gone) send_all(peer.socket, line + "\n");
  }
}

size_t Watcher::present() const {
  return static_cast<size_t>(
      std::count_if(peers_.begin(), peers_.end(), [](const Peer& peer) { return !peer.gone; }));
}

// A socket that is closed while bytes wait in it takes back what it sent: so the rest is read.
void Watcher::leave() {
  tell_all(parting_);
  for (const Peer& peer : peers_) ::shutdown(peer.socket.get(), SHUT_WR);
  listener_.close();
  const Deadline deadline = Steady::now() + 500ms;
  char drain[64];
  while (::read(woken_.get(), drain, sizeof drain) > 0) {
  }
  while (present() > 0 && Steady::now() < deadline) await(50ms);
}

}  // namespace soft
