// Workspaces for callers on many threads: each takes one, uses it alone, and puts it back.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/engine.h"

namespace soft {

class Workspaces {
 public:
  explicit Workspaces(const WorkspaceOptions& options) : options_(options) {}

  // use(workspace), with one that was put back last, or a new one. There are never more than there
  // were callers at once.
  template <class Use>
  auto with_one(const Use& use) {
    Loan loan{*this, take()};
    return use(*loan.workspace);
  }

 private:
  struct Loan {
    Workspaces& home;
    std::unique_ptr<Workspace> workspace;
    ~Loan() { home.put_back(std::move(workspace)); }
  };

  std::unique_ptr<Workspace> take() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Workspace> last = std::move(idle_.back());
        idle_.pop_back();
        return last;
      }
      idle_.reserve(++made_);  // so that putting back cannot fail
    }
    return std::make_unique<Workspace>(options_);
  }

  void put_back(std::unique_ptr<Workspace> workspace) {
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(std::move(workspace));
  }

  const WorkspaceOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> idle_;
  size_t made_ = 0;
};

}  // namespace soft
