#include "orchestrator/launch/node_notice.h"

#include <array>
#include <sstream>
#include <utility>

namespace rematch::launch {

namespace {

constexpr const char* kMark = "rematch-node";
constexpr std::array<std::pair<NodeNotice::What, const char*>, 3> kWords = {
    {{NodeNotice::What::kStarted, "started"}, {NodeNotice::What::kFailed, "failed"}, {NodeNotice::What::kDone, "done"}}};

}  // namespace

std::string notice_line(const NodeNotice& notice) {
  for (const auto& [what, word] : kWords)
    if (what == notice.what) return std::string(kMark) + " " + std::to_string(notice.node) + " " + word + "\n";
  return "";
}

std::optional<NodeNotice> parse_notice_line(const std::string& line) {
  std::istringstream words(line);
  std::string mark;
  std::string said;
  std::string rest;
  std::int64_t node = -1;
  if (!(words >> mark >> node >> said) || mark != kMark || node < 0 || words >> rest) return std::nullopt;
  for (const auto& [what, word] : kWords)
    if (said == word) return NodeNotice{what, node};
  return std::nullopt;
}

}  // namespace rematch::launch
