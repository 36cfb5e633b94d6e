// What this rank does, as its peers need to know it: computing, or inside which collective since when. One a process.
// The thread that calls collectives begins and ends them; any thread may look. A collective that throws is not ended: the rank is stuck in
// it for good.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace rematch::comm {

class Activity {
 public:
  struct State {
    std::string axis;  // empty: computing
    std::string operation;
    std::vector<int> peers;                         // of messages: positions in the group; empty: a collective of the whole group
    std::int64_t since_ns = 0;                      // CLOCK_MONOTONIC
    std::map<std::string, std::int64_t> num_begun;  // collectives so far, by axis; members of a group count alike
  };

  Activity();
  void begin(const std::string& axis, std::string_view operation);
  // Messages from or to these members of the group.
  void begin_messages(const std::string& axis, std::string_view operation, std::vector<int> peers);
  void end();
  State state() const;

 private:
  void enter(const std::string& axis, std::string_view operation, std::vector<int> peers);

  mutable std::mutex mutex_;
  State state_;
};

}  // namespace rematch::comm
