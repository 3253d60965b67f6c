// c10d's traps that this file knows: its store's constructor returns although ranks are missing,
// its time-out is half an hour unless it is told another, and Gloo binds to whatever address the
// host's own name has. ProcessGroupGloo is called by its own type, so that it makes no difference
// that it is a ProcessGroup in LibTorch 1.13 and a Backend in 2.x.
#include "group/gloo.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "attention/torch.h"
#include "base/error.h"
#include "base/json.h"
#include "group/table.h"
#include "rank/watcher.h"

namespace soft {
namespace {

using namespace std::chrono_literals;
using torch::Tensor;
using Ring = c10::intrusive_ptr<c10d::ProcessGroupGloo>;
using Work = c10::intrusive_ptr<c10d::Work>;

// A dead rank's neighbours may hear of it from Gloo before the watcher has said who it was.
constexpr auto kPatienceWithWatcher = 1500ms;

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string random_word() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}", device(), device(), device());
}

class Gloo : public Group {
 public:
  explicit Gloo(const GlooRequest& request)
      : place_(request.place), timeout_(request.timeout), table_(request.place, request.timeout) {
    meet(request);
    watch(request);
    gradients_ = make_ring("gradients");
    aside_ = make_ring("aside");
  }

  int rank() const override { return place_.rank; }
  int world() const override { return place_.world; }

  Finish start_sum(Tensor tensor) override {
    std::vector<Tensor> tensors{tensor};
    Work work;
    guarded([&] { work = gradients_->allreduce(tensors); });
    return [this, work, tensor] { guarded([&] { work->wait(); }); };
  }

  void sum_aside(Tensor tensor) override {
    std::vector<Tensor> tensors{tensor};
    guarded([&] { aside_->allreduce(tensors)->wait(); });
  }

  void broadcast(const std::vector<Tensor>& tensors) override {
    std::vector<Work> works;
    for (const Tensor& tensor : tensors) {
      std::vector<Tensor> one{tensor};
      guarded([&] { works.push_back(aside_->broadcast(one)); });
    }
    for (const Work& work : works) guarded([&] { work->wait(); });
  }

  std::string broadcast(const std::string& text) override {
    const std::string key = fmt::format("text/{}", ++texts_);
    if (first()) table_.put(key, text);
    wait_for(key);
    return table_.get(key);
  }

  std::vector<std::string> gather(const std::string& text) override {
    const int number = ++texts_;
    const auto key = [&](int rank) { return fmt::format("text/{}/{}", number, rank); };
    table_.put(key(rank()), text);
    std::vector<std::string> texts;
    for (int rank = 0; rank < world(); ++rank) {
      wait_for(key(rank));
      texts.push_back(table_.get(key(rank)));
    }
    return texts;
  }

  void barrier() override {
    guarded([&] { aside_->barrier()->wait(); });
  }

  void end(const std::string& why) override { watcher_->end(why); }

 private:
  // Everybody signs; then everybody reads who the others are.
  void meet(const GlooRequest& request) {
    const Json card{{"program", request.program},
                    {"world", world()},
                    {"host", host_name()},
                    {"pid", ::getpid()}};
    if (table_.has(signature(rank()))) {
      fail("rank {} is here twice: two processes of this group have the same RANK", rank());
    }
    if (first()) table_.put("secret", secret_ = random_word());
    table_.put(signature(rank()), card.dump());
    wait_for_signatures();
    for (int each = 0; each < world(); ++each)
      cards_.push_back(parse_json(table_.get(signature(each)), "the card of a rank"));
    table_.put(reader(rank()), "");
    const std::string difference = difference_of_cards();
    if (!difference.empty()) {
      if (first()) wait_for_readers();  // whose store it is, and with it the others' reason
      fail("{}", difference);
    }
    secret_ = table_.get("secret");
  }

  static std::string signature(int rank) { return fmt::format("rank/{}", rank); }
  static std::string reader(int rank) { return fmt::format("reader/{}", rank); }

  void wait_for_signatures() {
    const Deadline deadline = Steady::now() + timeout_;
    std::vector<int> missing;
    for (int each = 0; each < world(); ++each) {
      bool here = table_.has(signature(each));
      for (; !here && Steady::now() < deadline; here = table_.has(signature(each))) {
        std::this_thread::sleep_for(20ms);
      }
      if (!here) missing.push_back(each);
    }
    if (!missing.empty()) throw_missing(missing);
  }

  [[noreturn]] void throw_missing(const std::vector<int>& missing) const {
    fail(
        "of {} ranks {} did not come within {:.3g} s: rank {}; start them, or wait longer with "
        "--group-timeout",
        world(), missing.size(), std::chrono::duration<double>(timeout_).count(),
        fmt::join(missing, ", "));
  }

  void wait_for_readers() {
    const Deadline deadline = Steady::now() + timeout_;
    for (int each = 0; each < world(); ++each) {
      while (!table_.has(reader(each)) && Steady::now() < deadline) {
        std::this_thread::sleep_for(20ms);
      }
    }
  }

  // How a rank differs from rank 0; "" when all are alike.
  std::string difference_of_cards() const {
    const Json& leader = cards_.front();
    for (int each = 1; each < world(); ++each) {
      for (const char* key : {"world", "program"}) {
        if (cards_[each].at(key) == leader.at(key)) continue;
        return fmt::format(
            "{} has another {} than rank 0: {} there, {} here on rank 0; all ranks must be started "
            "alike",
            name_of(each), key, cards_[each].at(key).dump(), leader.at(key).dump());
      }
    }
    return "";
  }

  std::string name_of(int rank) const {
    const Json& card = cards_[rank];
    return fmt::format("rank {} (process {} on '{}')", rank, card.at("pid").get<int64_t>(),
                       card.at("host").get<std::string>());
  }

  void watch(const GlooRequest& request) {
    Watch watch;
    watch.rank = rank();
    for (int each = 0; each < world(); ++each) watch.names.push_back(name_of(each));
    watch.secret = secret_;
    watch.timeout = timeout_;
    watch.lost = request.lost;
    const Deadline deadline = Steady::now() + timeout_;
    Descriptor socket;
    if (first()) {
      socket = listen_on();
      table_.put("watcher", std::to_string(port_of(socket)));
    } else {
      while (!table_.has("watcher") && Steady::now() < deadline) std::this_thread::sleep_for(20ms);
      socket = connect_to(place_.master, std::stoi(table_.get("watcher")), deadline);
      if (!socket.ok()) fail("rank {} cannot reach the watcher of rank 0", rank());
    }
    watcher_ = std::make_unique<Watcher>(std::move(watch), std::move(socket));
    const auto missing = watcher_->wait_for_all(deadline);
    if (!missing.empty()) throw_missing(missing);
  }

  Ring make_ring(const char* name) {
    auto options = c10d::ProcessGroupGloo::Options::create(timeout_);
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(table_.address()));
    Ring ring;
    guarded([&] {
      ring = c10::make_intrusive<c10d::ProcessGroupGloo>(
          c10::make_intrusive<c10d::PrefixStore>(name, table_.store()), rank(), world(), options);
    });
    return ring;
  }

  // While all live; a lost one ends the process elsewhere, or this wait.
  void wait_for(const std::string& key) {
    while (!table_.has(key)) {
      const std::string lost = watcher_->verdict(20ms);
      if (!lost.empty()) fail("{}", lost);
    }
  }

  template <class Exchange>
  void guarded(const Exchange& exchange) const {
    try {
      exchange();
    } catch (const std::exception& error) {
      const std::string lost = watcher_->verdict(kPatienceWithWatcher);
      if (!lost.empty()) fail("{}", lost);
      fail("the exchange with the other ranks failed: {}", reason(error));
    }
  }

  RankPlace place_;
  std::chrono::milliseconds timeout_;
  StoreTable table_;
  std::string secret_;
  std::vector<Json> cards_;
  std::unique_ptr<Watcher> watcher_;
  Ring gradients_, aside_;
  int texts_ = 0;
};

}  // namespace

std::unique_ptr<Group> join_gloo(const GlooRequest& request) {
  return std::make_unique<Gloo>(request);
}

}  // namespace soft
