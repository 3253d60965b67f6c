#include "attention/probe.h"

#include <utility>

namespace soft {
namespace {

thread_local Probe* innermost = nullptr;

}  // namespace

Probe::Probe() : before_(std::exchange(innermost, this)) {}
Probe::~Probe() { innermost = before_; }

Probe* Probe::present() { return innermost; }

}  // namespace soft
