// One process at a time in a run's folder. The kernel holds the lock and lets go of it however the
// process ends; the file beside it says who has it.
#pragma once

#include <functional>
#include <string>

namespace soft {

class RunLock {
 public:
  // Takes the lock, or fails naming its holder. `notice` hears where the file system cannot lock.
  RunLock(const std::string& folder, const std::function<void(const std::string&)>& notice);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  // Fails when the lock is no longer ours: its file was replaced or removed, or another process
  // has it. To be called before anything is written.
  void check() const;

 private:
  bool take() const;  // false: somebody has it
  void sign() const;  // writes who has it

  std::string path_;
  int file_ = -1;
  bool kernel_ = true;  // false: this file system knows no locks
};

}  // namespace soft
