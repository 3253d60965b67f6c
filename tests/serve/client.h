// A client that sends any bytes it likes over a loopback socket, well-formed or not.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace soft::test {

class Client {
 public:
  explicit Client(int port, bool v6 = false)
      : socket_(::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0)) {
    const timeval patience{60, 0};  // a server that hangs fails the test instead of hanging it
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    const auto number = htons(static_cast<uint16_t>(port));
    sockaddr_in four{AF_INET, number, {htonl(INADDR_LOOPBACK)}, {}};
    sockaddr_in6 six{AF_INET6, number, 0, in6addr_loopback, 0};
    connected_ = (v6 ? connect(socket_, reinterpret_cast<sockaddr*>(&six), sizeof(six))
                     : connect(socket_, reinterpret_cast<sockaddr*>(&four), sizeof(four))) == 0;
  }
  static bool has_ipv6() {
    const int socket = ::socket(AF_INET6, SOCK_STREAM, 0);
    sockaddr_in6 any{AF_INET6, 0, 0, in6addr_loopback, 0};
    const bool bound =
        socket >= 0 && bind(socket, reinterpret_cast<sockaddr*>(&any), sizeof(any)) == 0;
    if (socket >= 0) ::close(socket);
    return bound;
  }
  ~Client() { close(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }
  void half_close() { shutdown(socket_, SHUT_WR); }
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

  // False when the server would not take it all.
  bool send(const std::string& bytes) {
    size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n = ::send(socket_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
      if (n <= 0) return false;
      done += static_cast<size_t>(n);
    }
    return true;
  }

  // The next response, headers and body; what came of it when the server closed before its end.
  std::string receive(bool body = true) {
    size_t end;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
      if (!receive_some()) return take(received_.size());
    }
    size_t length = 0;
    const size_t field = received_.find("Content-Length: ");
    if (field < end && body) length = std::stoul(received_.substr(field + 16));
    while (received_.size() < end + 4 + length) {
      if (!receive_some()) return take(received_.size());
    }
    return take(end + 4 + length);
  }

  bool closed_by_server() { return received_.empty() && !receive_some() && !timed_out_; }

 private:
  bool receive_some() {
    char bytes[65536];
    const ssize_t n = recv(socket_, bytes, sizeof(bytes), 0);
    timed_out_ = n < 0 && errno == EAGAIN;
    if (n > 0) received_.append(bytes, static_cast<size_t>(n));
    return n > 0;
  }
  std::string take(size_t count) {
    const std::string taken = received_.substr(0, count);
    received_.erase(0, count);
    return taken;
  }

  int socket_;
  bool connected_ = false;
  bool timed_out_ = false;
  std::string received_;
};

inline std::string get(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

inline std::string post(const std::string& target, const std::string& body,
                        const std::string& headers = "") {
  return "POST " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

inline int status_of(const std::string& response) {
  return response.rfind("HTTP/1.1 ", 0) == 0 ? std::stoi(response.substr(9)) : 0;
}

inline std::string body_of(const std::string& response) {
  const size_t end = response.find("\r\n\r\n");
  return end == std::string::npos ? "" : response.substr(end + 4);
}

}  // namespace soft::test
