// What this rank does, as its peers need to know it: computing, or inside which collective since when. One a process.
// The thread that calls collectives begins and ends them; any thread may look. A collective that throws is not ended: the rank is stuck in
// it for good.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace rematch::comm {

class Activity {
 public:
  struct State {
    std::int64_t num_begun = 0;  // collectives so far, over all axes
    std::string axis;            // empty: computing
    std::string operation;
    std::int64_t index = 0;     // of this collective among those over its axis, from 1
    std::int64_t since_ns = 0;  // CLOCK_MONOTONIC
  };

  Activity();
  void begin(const std::string& axis, std::string_view operation);
  void end();
  State state() const;

 private:
  mutable std::mutex mutex_;
  State state_;
  std::map<std::string, std::int64_t> num_begun_over_;  // by axis
};

}  // namespace rematch::comm
