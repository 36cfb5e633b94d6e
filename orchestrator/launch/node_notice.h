// What the supervisors of a job step tell the launcher while they run: one line each on stdout, which srun forwards in the order of
// arrival. Clocks of two hosts do not tell who failed first; this order does. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rematch::launch {

struct NodeNotice {
  enum class What {
    kStarted,  // its ranks were started
    kFailed,   // it ends the attempt, for a reason of its own
    kDone,     // all its ranks ended well
  };
  What what = What::kStarted;
  std::int64_t node = 0;  // 0-based, among those of the step
};

std::string notice_line(const NodeNotice& notice);                     // ends in a newline
std::optional<NodeNotice> parse_notice_line(const std::string& line);  // without its newline; nullopt: anything else

}  // namespace rematch::launch
