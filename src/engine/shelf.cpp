#include "engine/shelf.h"

#include <algorithm>

#include "base/error.h"

namespace soft {

Workspace::Shelf::Entry& Workspace::Shelf::entry_for(const std::shared_ptr<const Network>& network,
                                                     Grid image) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.network == network && entry.image == image;
  });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
  } else {
    while (!entries_.empty() && entries_.size() >= options_.cached_sizes) forget_oldest();
    entries_.push_front({network, image, {}});
  }
  return entries_.front();
}

void Workspace::Shelf::forget_oldest() {
  for (const auto& lane : entries_.back().lanes) {
    past_fallbacks_ += lane->inverse_fallbacks();
    past_profile_ += lane->profile();
  }
  entries_.pop_back();
}

bool Workspace::Shelf::holds(const std::shared_ptr<const Network>& network, Grid image, int team,
                             size_t count) const {
  for (const Entry& entry : entries_) {
    if (entry.network != network || entry.image != image) continue;
    const auto fits = [&](const auto& lane) { return lane->team() == team; };
    return std::count_if(entry.lanes.begin(), entry.lanes.end(), fits) >=
           static_cast<int64_t>(count);
  }
  return false;
}

void Workspace::Shelf::check_memory(const std::shared_ptr<const Network>& network, Grid image,
                                    int team, size_t count) const {
  if (holds(network, image, team, count)) return;
  const size_t needed = count * carrier_bytes(*network, image, team);
  if (needed <= options_.largest_bytes) return;
  const bool grows = !network->spec.in_zoo() && network->spec.landmarks == 0;
  fail(
      "an image of {}x{} pixels needs {} MB of working memory, more than the {} MB allowed; use a "
      "smaller one{}",
      image.h, image.w, needed >> 20, options_.largest_bytes >> 20,
      grows ? ", or --set landmarks=49 to keep the cost per pixel constant" : "");
}

std::vector<Carrier*> Workspace::Shelf::lanes(const std::shared_ptr<const Network>& network,
                                              Grid image, int team, size_t count) {
  Entry& entry = entry_for(network, image);
  std::vector<Carrier*> found;
  for (const auto& lane : entry.lanes) {
    if (lane->team() == team && found.size() < count) found.push_back(lane.get());
  }
  while (found.size() < count) {
    entry.lanes.push_back(make_carrier(network, image, team));
    found.push_back(entry.lanes.back().get());
  }
  return found;
}

size_t Workspace::Shelf::bytes() const {
  size_t sum = 0;
  for (const Entry& entry : entries_) {
    for (const auto& lane : entry.lanes) sum += lane->bytes();
  }
  return sum;
}

int64_t Workspace::Shelf::inverse_fallbacks() const {
  int64_t sum = past_fallbacks_;
  for (const Entry& entry : entries_) {
    for (const auto& lane : entry.lanes) sum += lane->inverse_fallbacks();
  }
  return sum;
}

Profile Workspace::Shelf::profile() const {
  Profile sum = past_profile_;
  for (const Entry& entry : entries_) {
    for (const auto& lane : entry.lanes) sum += lane->profile();
  }
  return sum;
}

void Workspace::Shelf::reset_profile() {
  past_profile_ = {};
  for (const Entry& entry : entries_) {
    for (const auto& lane : entry.lanes) lane->profile() = {};
  }
}

Workspace::Workspace(const WorkspaceOptions& options) : shelf_(std::make_unique<Shelf>(options)) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

size_t Workspace::bytes() const { return shelf_->bytes(); }
size_t Workspace::cached_sizes() const { return shelf_->sizes(); }
int64_t Workspace::inverse_fallbacks() const { return shelf_->inverse_fallbacks(); }
Profile Workspace::profile() const { return shelf_->profile(); }
void Workspace::reset_profile() { shelf_->reset_profile(); }

}  // namespace soft
