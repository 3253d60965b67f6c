// What a Workspace keeps: lanes for the image sizes used last.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "engine/carrier.h"

namespace soft {

class Workspace::Shelf {
 public:
  explicit Shelf(const WorkspaceOptions& options) : options_(options) {}

  // `count` lanes of `team` workers each for this network and size, made where there are none yet.
  std::vector<Carrier*> lanes(const std::shared_ptr<const Network>& network, Grid image, int team,
                              size_t count);

  // Refuses that many lanes when they would take more memory than the workspace may have.
  void check_memory(const std::shared_ptr<const Network>& network, Grid image, int team,
                    size_t count) const;

  size_t bytes() const;
  size_t sizes() const { return entries_.size(); }
  int64_t inverse_fallbacks() const;
  Profile profile() const;
  void reset_profile();

 private:
  struct Entry {
    std::shared_ptr<const Network> network;
    Grid image;
    std::vector<std::unique_ptr<Carrier>> lanes;
  };

  bool holds(const std::shared_ptr<const Network>& network, Grid image, int team,
             size_t count) const;
  Entry& entry_for(const std::shared_ptr<const Network>& network, Grid image);
  void forget_oldest();

  WorkspaceOptions options_;
  std::list<Entry> entries_;  // the most recently used first
  int64_t past_fallbacks_ = 0;
  Profile past_profile_;
};

}  // namespace soft
