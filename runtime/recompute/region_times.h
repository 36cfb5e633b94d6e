// How long the parts of a model take, in first forwards and in replays, by label. Every call of a region's function is timed, whether its
// label recomputes or not, and so is every layer, under its name ("layers.0"), for full recompute. A log that is open collects it. One log
// a thread at a time; costs nothing when none is open. CPU time of the thread, which other processes lengthen little: it says nothing of a
// device that runs behind the host, nor of threads that help.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace rematch::recompute {

std::int64_t thread_cpu_ns();  // the clock of these times

struct RegionTime {
  std::int64_t forward_ns = 0;  // with and without a graph
  std::int64_t num_forwards = 0;
  std::int64_t replay_ns = 0;  // in a replay of its own or of a region around it
  std::int64_t num_replays = 0;
};

class RegionTimes {
 public:
  RegionTimes();
  ~RegionTimes();
  RegionTimes(const RegionTimes&) = delete;
  RegionTimes& operator=(const RegionTimes&) = delete;

  const std::map<std::string, RegionTime>& by_label() const { return by_label_; }

 private:
  friend class RegionTimer;
  std::map<std::string, RegionTime> by_label_;
  std::set<std::string> open_;
  int num_open_replays_ = 0;
};

enum class Pass { kForward, kReplay };

// Times what runs while it lives. Inside another timer of the same label it counts nothing.
class RegionTimer {
 public:
  RegionTimer(const std::string& label, Pass pass);
  ~RegionTimer();
  RegionTimer(const RegionTimer&) = delete;
  RegionTimer& operator=(const RegionTimer&) = delete;

 private:
  RegionTimes* log_;
  Pass pass_;
  std::optional<std::set<std::string>::iterator> label_;  // where this timer is the outermost of its label
  std::int64_t start_ns_ = 0;
};

}  // namespace rematch::recompute
