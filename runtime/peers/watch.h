// The watch that each rank of a job keeps on its peers, so that one rank's failure ends the others' waits at once, and by its name.
// A thread with a connection of its own to the store looks around every half second; when a peer has failed it ends this process, though
// the main thread may sit in a collective.
// Threads: the calls are for the main thread, and each ends in bounded time, also when the store hangs.
// Ownership: the watch ends with the process; it is never destroyed.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/peers/lookout.h"

namespace rematch::peers {

// A peer has failed: writes this rank's last words and returns the exit code with which the watch then ends the process. Called on the
// watch's thread.
using GiveUp = std::function<int(const PeerFailure&)>;

class Watch {
 public:
  Watch(const LookoutRequest& request, c10::intrusive_ptr<c10d::Store> store, GiveUp give_up);  // begins
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  struct Explanation {
    CollectiveEnd end = CollectiveEnd::kConnectionLost;
    PeerFailure failure;
  };
  // A collective failed with this message: which rank is to blame? Takes up to a few seconds. The peers are told.
  Explanation explain(const std::string& error);
  // This rank failed by itself; the peers are told.
  void report(const std::string& reason);
  // Ends the watch, before the process ends.
  void leave();

 private:
  enum class Wish { kNone, kExplain, kReport, kLeave };
  struct Request {
    Wish wish = Wish::kNone;
    CollectiveEnd end = CollectiveEnd::kConnectionLost;
    std::string text;
  };

  std::optional<PeerFailure> ask(const Request& request);  // nullopt: the store hangs
  void answer(const PeerFailure& failure);
  Request next_request();

  void run();
  void watch_until_left();
  void go_on_without_store(const std::string& error);
  void end_process(const PeerFailure& failure);

  LookoutRequest request_;
  Lookout lookout_;
  GiveUp give_up_;
  bool main_ends_ = false;  // the main thread has a failure in hand: it ends the process itself

  std::mutex mutex_;
  std::condition_variable asked_, answered_;
  Request asked_for_;
  std::optional<PeerFailure> answer_;
};

}  // namespace rematch::peers
