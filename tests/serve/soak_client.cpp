// Hostile and honest clients together, for scripts/soak and scripts/fault_test; prints one line of
// JSON. Everything goes to 127.0.0.1.
//
//   soak_client PORT REQUESTS SECONDS PICTURE     ends after so many requests or seconds
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "serve/bombs.h"
#include "serve/client.h"

namespace soft::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kHonest = 4, kHostile = 12;
constexpr size_t kHeldEach = 50;  // connections that a hostile client keeps and leaves alone

struct Soak {
  int port = 0;
  int64_t most = 0;
  Clock::time_point end;
  std::string picture;
  std::string long_png, scans_jpeg, json_bomb;
  std::atomic<int64_t> done{0};
  bool over() const { return done >= most || Clock::now() >= end; }
};

struct Tally {
  std::map<int, int64_t> statuses;  // 0: closed without an answer
  std::vector<double> milliseconds;

  void add(int status, double took) {
    ++statuses[status];
    milliseconds.push_back(took);
  }
  void add(const Tally& other) {
    for (const auto& [status, count] : other.statuses) statuses[status] += count;
    milliseconds.insert(milliseconds.end(), other.milliseconds.begin(), other.milliseconds.end());
  }
  std::string json() {
    std::sort(milliseconds.begin(), milliseconds.end());
    const auto at = [&](double share) {
      return milliseconds.empty()
                 ? 0
                 : milliseconds[static_cast<size_t>(share * (milliseconds.size() - 1))];
    };
    std::string codes;
    for (const auto& [status, count] : statuses) {
      codes += fmt::format("{}\"{}\":{}", codes.empty() ? "" : ",", status, count);
    }
    return fmt::format(
        "{{\"count\":{},\"p50_ms\":{:.2f},\"p99_ms\":{:.2f},\"max_ms\":{:.2f},\"codes\":{{{}}}}}",
        milliseconds.size(), at(0.5), at(0.99), at(1), codes);
  }
};

double since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// One request after another on a connection that is kept; another one when the server closed it.
void honest(Soak& soak, Tally& tally) {
  const std::string ask = post("/v1/classify", soak.picture);
  auto client = std::make_unique<Client>(soak.port);
  while (!soak.over()) {
    const auto start = Clock::now();
    std::string response;
    for (int attempt = 0; attempt < 3 && response.empty(); ++attempt) {
      if (attempt > 0) client = std::make_unique<Client>(soak.port);
      client->send(ask);
      response = client->receive();
    }
    tally.add(status_of(response), since(start));
    ++soak.done;
    if (response.find("Connection: close") != std::string::npos) {
      client = std::make_unique<Client>(soak.port);
    }
    if (status_of(response) == 503) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

// A health check every few milliseconds, each on a connection of its own.
void health(Soak& soak, Tally& tally) {
  while (!soak.over()) {
    const auto start = Clock::now();
    Client client(soak.port);
    client.send(get("/live"));
    const int status = status_of(client.receive());  // before the clock is read
    tally.add(status, since(start));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

class Hostile {
 public:
  Hostile(Soak& soak, unsigned seed) : soak_(soak), random_(seed) {}

  void run(Tally& tally) {
    while (!soak_.over()) {
      auto client = std::make_unique<Client>(soak_.port);
      const auto start = Clock::now();
      const bool answered = misbehave(*client);
      ++soak_.done;
      if (!answered) {
        hold(std::move(client));
        continue;
      }
      if (random_() % 4 == 0) continue;  // gone without reading
      if (random_() % 2 == 0) client->half_close();
      const int status = status_of(client->receive());
      tally.add(status, since(start));
    }
  }

 private:
  void hold(std::unique_ptr<Client> client) {
    held_.push_back(std::move(client));
    if (held_.size() > kHeldEach) held_.pop_front();
  }

  std::string noise() {
    std::string bytes(random_() % 3000, ' ');
    for (char& c : bytes) c = static_cast<char>(random_());
    return bytes;
  }
  std::string damaged() {
    std::string odd = soak_.picture.substr(0, random_() % soak_.picture.size());
    if (!odd.empty()) odd[random_() % odd.size()] ^= 1 << random_() % 8;
    return odd;
  }
  static std::string with(const std::string& headers, const std::string& rest = "") {
    return "POST /v1/classify HTTP/1.1\r\n" + headers + "\r\n\r\n" + rest;
  }

  // What takes the server much is sent now and then only, but each of it once at first: a warm-up
  // has then seen all that the server keeps memory for. False when no answer is awaited.
  bool misbehave(Client& client) {
    if (bombs_ < kBombs) return bomb(client, bombs_++);
    if (random_() % 400 == 0) return bomb(client, random_() % kBombs);
    switch (random_() % 13) {
      case 0:
        return client.send(noise());
      case 1:
        return client.send(get("/live") + noise() + "\r\n\r\n");
      case 2:
        return client.send(post("/v1/classify", damaged()));
      case 3:
        return client.send(post("/v1/attend?x=1&y=1", damaged()));
      case 4:
        client.send(post("/v1/classify", soak_.picture).substr(0, 500));
        return false;
      case 5:
        return client.send(post("/v1/classify", "x", "Content-Type: text/plain\r\n"));
      case 6:
        return client.send(get("/live") + get("/nowhere") + get("/ready"));
      case 7:  // announced and never sent
        client.send(with("Host: localhost\r\nContent-Length: 20000000"));
        return false;
      case 8:  // said once, and then silent
        client.send(get("/live"));
        client.receive();
        return false;
      case 9:
        client.send("GET /li");
        return false;
      case 10:
        return client.send(with("Host: evil.example\r\nContent-Length: 0"));
      case 11:
        return client.send(
            with("Host: localhost\r\nOrigin: http://evil.example\r\nContent-Length: 0"));
      default:
        return client.send(with("Host: localhost\r\nTransfer-Encoding: chunked",
                                "1\r\nx\r\n0\r\nX: " + std::string(70'000, 'x') + "\r\n\r\n"));
    }
  }

  bool bomb(Client& client, unsigned kind) {
    switch (kind) {
      case 0:
        return client.send(
            post("/v1/classify", soak_.json_bomb, "Content-Type: application/json\r\n"));
      case 1:
        return client.send(post("/v1/classify", soak_.long_png));
      case 2:
        return client.send(post("/v1/classify", soak_.scans_jpeg));
      case 3:
        return client.send(post("/v1/classify", std::string(22 << 20, 'x')));
      default:
        return client.send(post("/v1/attend?x=1&y=1&size=128&layer=all&head=all", soak_.picture));
    }
  }

  static constexpr unsigned kBombs = 5;

  Soak& soak_;
  std::mt19937 random_;
  unsigned bombs_ = 0;  // of those that come first
  std::deque<std::unique_ptr<Client>> held_;
};

void run(Soak& soak) {
  const auto start = Clock::now();
  std::mutex mutex;
  Tally good, bad, live;
  std::vector<std::thread> threads;
  const auto add = [&](Tally& sum, auto body) {
    threads.emplace_back([&mutex, &sum, body] {
      Tally own;
      body(own);
      const std::lock_guard lock(mutex);
      sum.add(own);
    });
  };
  add(live, [&](Tally& own) { health(soak, own); });
  for (int i = 0; i < kHonest; ++i) add(good, [&](Tally& own) { honest(soak, own); });
  for (unsigned i = 0; i < kHostile; ++i) {
    add(bad, [&soak, i](Tally& own) { Hostile(soak, i).run(own); });
  }
  for (std::thread& thread : threads) thread.join();
  fmt::print("{{\"requests\":{},\"seconds\":{:.0f},\"honest\":{},\"live\":{},\"hostile\":{}}}\n",
             soak.done.load(), since(start) / 1000, good.json(), live.json(), bad.json());
}

}  // namespace
}  // namespace soft::test

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: soak_client PORT REQUESTS SECONDS PICTURE\n");
    return 2;
  }
  using namespace soft::test;
  Soak soak;
  soak.port = std::stoi(argv[1]);
  soak.most = std::stoll(argv[2]);
  std::ifstream file(argv[4], std::ios::binary);
  soak.picture = {std::istreambuf_iterator<char>(file), {}};
  soak.long_png = png_strip(65'535);
  soak.scans_jpeg = jpeg_of_scans(8'000, 90);
  soak.json_bomb = json_bomb();
  soak.end = Clock::now() + std::chrono::seconds(std::stoi(argv[3]));
  run(soak);
}
