// Many clients at once, for scripts/load_test and scripts/fault_test; prints one line of JSON.
//
//   load_client PORT load  CLIENTS SECONDS TARGET [PICTURE]   requests one after another; GET
//   without
//                                                              a picture
//   load_client PORT drip  CLIENTS SECONDS                     requests that arrive byte by byte
//   load_client PORT storm CLIENTS SECONDS PICTURE             every kind of bad manners
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "serve/client.h"

namespace soft::test {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  int port = 0;
  int clients = 1;
  double seconds = 1;
  std::string target;
  std::string picture;  // bytes
};

// What became of the requests. A status of 0: closed before a byte of the answer came.
struct Tally {
  std::map<int, int64_t> statuses;
  std::vector<double> milliseconds;  // of those with status 200
  int64_t cut = 0;                   // answers that broke off

  void add(const std::string& response, double took) {
    const int status = status_of(response);
    if (status == 0 && !response.empty()) ++cut;
    ++statuses[status];
    if (status == 200) milliseconds.push_back(took);
  }
  void add(const Tally& other) {
    for (const auto& [status, count] : other.statuses) statuses[status] += count;
    milliseconds.insert(milliseconds.end(), other.milliseconds.begin(), other.milliseconds.end());
    cut += other.cut;
  }
  double percentile(double share) const {
    if (milliseconds.empty()) return 0;
    return milliseconds[static_cast<size_t>(share * (milliseconds.size() - 1))];
  }
  void print(double seconds) {
    std::sort(milliseconds.begin(), milliseconds.end());
    std::string codes;
    for (const auto& [status, count] : statuses) {
      codes += fmt::format("{}\"{}\":{}", codes.empty() ? "" : ",", status, count);
    }
    fmt::print(
        "{{\"per_second\":{:.1f},\"p50_ms\":{:.2f},\"p90_ms\":{:.2f},\"p99_ms\":{:.2f},\"max_ms\":{"
        ":.2f},"
        "\"codes\":{{{}}},\"cut\":{}}}\n",
        milliseconds.size() / seconds, percentile(0.5), percentile(0.9), percentile(0.99),
        percentile(1), codes, cut);
  }
};

bool says_close(const std::string& response) {
  return response.find("Connection: close") != std::string::npos;
}

// Sends one request after another on a connection that is kept; a client that finds nobody
// listening any more goes home.
Tally load(const Options& options, Clock::time_point end) {
  const std::string request =
      options.picture.empty() ? get(options.target) : post(options.target, options.picture);
  Tally tally;
  auto client = std::make_unique<Client>(options.port);
  while (Clock::now() < end && client->connected()) {
    const auto start = Clock::now();
    client->send(request);
    const std::string response = client->receive();
    tally.add(response, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    const int status = status_of(response);
    if (status == 503) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (status == 0 || says_close(response)) client = std::make_unique<Client>(options.port);
  }
  return tally;
}

Tally drip(const Options& options, Clock::time_point end) {
  const std::string request = post("/v1/classify", std::string(100'000, 'x'));
  Tally tally;
  while (Clock::now() < end) {
    Client client(options.port);
    size_t sent = 0;
    while (Clock::now() < end && sent < request.size() && client.send(request.substr(sent++, 1))) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    client.half_close();
    tally.add(client.receive(), 0);
  }
  return tally;
}

std::string chunked(size_t bytes) {
  std::string text =
      "POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string chunk = "10000\r\n" + std::string(65536, 'x') + "\r\n";
  for (size_t sent = 0; sent < bytes; sent += 65536) text += chunk;
  return text + "0\r\n\r\n";
}

// Some bytes and how they end.
void misbehave(Client& client, int kind, const std::string& picture, std::mt19937& random) {
  std::string noise(random() % 3000, ' ');
  for (char& c : noise) c = static_cast<char>(random());
  std::string odd = picture;
  odd.resize(random() % odd.size());                                  // cut off
  if (!odd.empty()) odd[random() % odd.size()] ^= 1 << random() % 8;  // and damaged
  switch (kind) {
    case 0:
      client.send(noise);
      break;
    case 1:
      client.send(get("/live") + noise + "\r\n\r\n");
      break;
    case 2:
      client.send(post("/v1/classify", odd));
      break;
    case 3:
      client.send(post("/v1/attend?x=1&y=1", odd));
      break;
    case 4:
      client.send(post("/v1/classify", std::string(22 << 20, 'x')));
      break;
    case 5:
      client.send(chunked(22 << 20));
      break;
    case 6:
      client.send(post("/v1/classify", picture).substr(0, 500));
      break;
    case 7:
      client.send(post("/v1/classify", picture, "Content-Type: text/plain\r\n"));
      break;
    default:
      client.send(post("/v1/classify", picture) + get("/live"));
      break;
  }
}

Tally storm(const Options& options, Clock::time_point end, unsigned seed) {
  std::mt19937 random(seed);
  Tally tally;
  while (Clock::now() < end) {
    Client client(options.port);
    misbehave(client, static_cast<int>(random() % 9), options.picture, random);
    if (random() % 4 == 0) continue;  // gone without reading
    client.half_close();
    const auto start = Clock::now();
    const std::string response = client.receive();
    tally.add(response, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  return tally;
}

void run(const std::string& mode, const Options& options) {
  const auto start = Clock::now();
  const auto end = start + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(options.seconds));
  std::mutex mutex;
  Tally sum;
  std::vector<std::thread> threads;
  for (int i = 0; i < options.clients; ++i) {
    threads.emplace_back([&, i] {
      const Tally own = mode == "drip"    ? drip(options, end)
                        : mode == "storm" ? storm(options, end, static_cast<unsigned>(i))
                                          : load(options, end);
      const std::lock_guard lock(mutex);
      sum.add(own);
    });
  }
  for (std::thread& thread : threads) thread.join();
  sum.print(std::chrono::duration<double>(Clock::now() - start).count());
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace
}  // namespace soft::test

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const bool loads = words.size() > 1 && words[1] == "load";
  if (words.size() < (loads ? 5u : 4u)) {
    fmt::print(stderr,
               "usage: load_client PORT load|drip|storm CLIENTS SECONDS [TARGET] [PICTURE]\n");
    return 2;
  }
  soft::test::Options options;
  options.port = std::stoi(words[0]);
  options.clients = std::stoi(words[2]);
  options.seconds = std::stod(words[3]);
  if (loads) options.target = words[4];
  if (words.size() > (loads ? 5u : 4u)) options.picture = soft::test::bytes_of(words.back());
  soft::test::run(words[1], options);
}
