// c10d's store of keys and texts at rank 0, with our own words for what goes wrong.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

#include "base/error.h"
#include "rank/watcher.h"

namespace soft {

using StorePointer = c10::intrusive_ptr<c10d::Store>;
using Steady = std::chrono::steady_clock;

// The first line of a LibTorch message, without its backtrace.
inline std::string reason(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  const std::string text = torch_error ? torch_error->what_without_backtrace() : error.what();
  return text.substr(0, text.find('\n'));
}

// LibTorch 2 asks for libuv, which Debian's is built without; older ones have no such choice.
template <class Options>
auto decline_libuv(Options& options, int /*preferred*/) -> decltype(options.useLibUV, void()) {
  options.useLibUV = false;
}
template <class Options>
void decline_libuv(Options& /*options*/, int64_t /*otherwise*/) {}

class StoreTable {
 public:
  StoreTable(const RankPlace& place, std::chrono::milliseconds timeout) : timeout_(timeout) {
    const bool server = place.first() && !place.stores;
    if (!server) look_for(place);
    c10d::TCPStoreOptions options;
    options.port = static_cast<uint16_t>(place.port);
    options.isServer = server;
    options.waitWorkers = false;  // it would return although some are missing
    decline_libuv(options, 0);
    options.timeout = std::max<std::chrono::milliseconds>(
        timeout, std::chrono::seconds(2));  // cut to whole seconds
    try {
      store_ = c10::make_intrusive<c10d::TCPStore>(place.master, options);
    } catch (const std::exception& error) {
      if (!server) throw_unreachable(place, reason(error));
      fail(
          "rank 0 cannot open port {} for the others ({}); another program may have it: choose "
          "another with MASTER_PORT or --master",
          place.port, reason(error));
    }
    if (!place.prefix.empty())
      store_ = c10::make_intrusive<c10d::PrefixStore>(place.prefix, store_);
    address_ = own_address(connect_to(place.master, place.port, Steady::now() + timeout));
  }

  const StorePointer& store() const { return store_; }
  const std::string& address() const { return address_; }  // of this machine, as rank 0 sees it

  void put(const std::string& key, const std::string& text) {
    asked([&] { store_->set(key, std::vector<uint8_t>(text.begin(), text.end())); });
  }
  std::string get(const std::string& key) {  // which must be there
    std::vector<uint8_t> bytes;
    asked([&] { bytes = store_->get(key); });
    return {bytes.begin(), bytes.end()};
  }
  bool has(const std::string& key) {
    bool there = false;
    asked([&] { there = store_->check({key}); });
    return there;
  }

 private:
  template <class Question>
  void asked(const Question& question) {
    try {
      question();
    } catch (const std::exception& error) {
      fail("the store of rank 0 does not answer: {}", reason(error));
    }
  }

  [[noreturn]] static void throw_unreachable(const RankPlace& place, const std::string& why) {
    fail(
        "rank {} cannot reach rank 0 at {}:{} ({}); check MASTER_ADDR and MASTER_PORT, and that "
        "rank 0 runs",
        place.rank, place.master, place.port, why);
  }

  void look_for(const RankPlace& place) const {
    if (connect_to(place.master, place.port, Steady::now() + timeout_).ok()) return;
    throw_unreachable(place, fmt::format("nobody answered for {:.3g} s",
                                         std::chrono::duration<double>(timeout_).count()));
  }

  std::chrono::milliseconds timeout_;
  StorePointer store_;
  std::string address_;
};

}  // namespace soft
