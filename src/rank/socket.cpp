#include "rank/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "base/error.h"

namespace soft {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenTries = 100ms;
constexpr auto kOneTry = 2000ms;

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses resolve(const std::string& host, int port) {
  addrinfo wish{};
  wish.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wish, &found) != 0) found = nullptr;
  return {found, &freeaddrinfo};
}

bool finishes(int socket, std::chrono::milliseconds patience) {
  pollfd waiting{socket, POLLOUT, 0};
  if (::poll(&waiting, 1, static_cast<int>(patience.count())) != 1) return false;
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

Descriptor try_address(const addrinfo& address) {
  Descriptor socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.ok()) return socket;
  const int code = ::connect(socket.get(), address.ai_addr, address.ai_addrlen);
  if (code != 0 && (errno != EINPROGRESS || !finishes(socket.get(), kOneTry))) return Descriptor();
  const int on = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

}  // namespace

Descriptor listen_on(int port) {
  // One socket for both families; a kernel without IPv6 gets a plain one.
  Descriptor socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const bool six = socket.ok();
  if (!six) socket = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1, off = 0;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (six) setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  sockaddr_in6 any6{};
  any6.sin6_family = AF_INET6;
  any6.sin6_port = htons(static_cast<uint16_t>(port));
  sockaddr_in any4{};
  any4.sin_family = AF_INET;
  any4.sin_port = any6.sin6_port;
  const auto* address =
      six ? reinterpret_cast<sockaddr*>(&any6) : reinterpret_cast<sockaddr*>(&any4);
  const socklen_t size = six ? sizeof any6 : sizeof any4;
  if (::bind(socket.get(), address, size) != 0 || ::listen(socket.get(), 1024) != 0) {
    fail("cannot listen on port {}: {}", port, std::strerror(errno));
  }
  return socket;
}

int port_of(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return address.ss_family == AF_INET6
             ? ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port)
             : ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

Descriptor connect_to(const std::string& host, int port, Deadline deadline) {
  for (;;) {
    const Addresses addresses = resolve(host, port);
    for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
      Descriptor socket = try_address(*each);
      if (socket.ok()) return socket;
    }
    if (std::chrono::steady_clock::now() + kBetweenTries > deadline) return Descriptor();
    std::this_thread::sleep_for(kBetweenTries);
  }
}

std::string own_address(const Descriptor& connected) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  char text[NI_MAXHOST] = "";
  getsockname(connected.get(), reinterpret_cast<sockaddr*>(&address), &size);
  getnameinfo(reinterpret_cast<sockaddr*>(&address), size, text, sizeof text, nullptr, 0,
              NI_NUMERICHOST);
  return text;
}

bool send_all(const Descriptor& socket, const std::string& text) {
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t count =
        ::send(socket.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
      sent += static_cast<size_t>(count);
    } else if (errno != EINTR) {
      pollfd waiting{socket.get(), POLLOUT, 0};
      if (errno != EAGAIN || ::poll(&waiting, 1, 1000) != 1) return false;
    }
  }
  return true;
}

}  // namespace soft
