// Notices that a rank has gone, without waiting for the next collective: every rank keeps one TCP
// connection to rank 0. The kernel closes that of a killed process at once; one that is stopped or
// cut off falls silent. Rank 0 tells the others which rank it was.
//   to rank 0:   hello SECRET RANK | alive | done | end WHY
//   from rank 0: formed | alive | done | lost WHO AND WHY
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "rank/socket.h"

namespace soft {

struct Watch {
  int rank = 0;
  std::vector<std::string> names;  // of all ranks, for people: "rank 2 (process 71 on 'node3')"
  std::string secret;              // who does not know it is not heard
  std::chrono::milliseconds timeout{60'000};  // a rank that sent nothing for so long is lost
  // Called once, from the watcher's own thread, with a line that names the lost rank.
  std::function<void(const std::string& text)> lost;
};

class Watcher {
 public:
  // `socket` listens on rank 0 and is connected to it elsewhere.
  Watcher(Watch watch, Descriptor socket);
  ~Watcher();  // leaves in good order
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // Waits until every rank is watched; the numbers of those that are missing (on rank 0; elsewhere
  // 0 stands for whoever it is).
  std::vector<int> wait_for_all(Deadline deadline);

  // Tells the others why this rank ends, and stops watching.
  void end(const std::string& why);

  // The line about the lost rank, waited for as long as this; "" when there is none.
  std::string verdict(std::chrono::milliseconds patience);

 private:
  struct Peer {
    Descriptor socket;
    int rank = -1;  // unknown yet
    std::string inbox;
    Deadline heard;
    bool gone = false;  // in good order
  };

  bool leads() const { return watch_.rank == 0; }
  void run();
  void await(std::chrono::milliseconds patience);
  void welcome();
  void read(Peer& peer);
  void obey(Peer& peer, const std::string& line);
  void greet(Peer& peer, const std::string& line);
  void say_alive();
  void check_silence();
  void lose(const Peer& peer, const std::string& how);
  void conclude(const std::string& text);
  void tell_all(const std::string& line);
  void leave();
  void stop(const std::string& parting);
  size_t present() const;

  const Watch watch_;
  Descriptor listener_;
  Descriptor wake_, woken_;  // a pipe
  std::vector<Peer> peers_;  // the watcher's thread alone looks at them
  Deadline spoke_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<bool> here_;  // ranks that are watched
  bool formed_ = false;
  bool stop_ = false;
  std::string parting_;  // the last line to the others
  std::string verdict_;
  std::thread thread_;
};

}  // namespace soft
