#include "orchestrator/spec/candidates.h"

#include <algorithm>

#include "orchestrator/spec/nearest.h"
#include "schemas/protocol/recompute_arm.h"

namespace rematch::spec {

namespace {

std::string name_in_any_order(protocol::RecomputeSpec recompute) {
  if (recompute.recompute_modules) std::sort(recompute.recompute_modules->begin(), recompute.recompute_modules->end());
  return protocol::arm_name(recompute);
}

}  // namespace

void refuse_unknown_members(ParseState& state, const Value& map, const std::string& path, const std::vector<std::string>& known) {
  for (const auto& member : map.members) {
    if (std::find(known.begin(), known.end(), member.key) == known.end())
      state.refuse(member.key_place, path + "." + member.key, unknown_name_message(member.key, "a key of " + path, known));
  }
}

void add_candidate(ParseState& state, Candidate candidate, const std::string& path) {
  candidate.arm = protocol::arm_name(candidate.recompute);
  for (const auto& earlier : state.spec.candidates) {
    if (name_in_any_order(earlier.recompute) != name_in_any_order(candidate.recompute)) continue;
    const std::string where = earlier.place.line > 0 ? "line " + std::to_string(earlier.place.line) : earlier.place.file;
    return state.refuse(candidate.place, path,
                        "arm " + candidate.arm + " is the same setting as the arm of " + where + "; keep one of them");
  }
  state.spec.candidates.push_back(std::move(candidate));
}

}  // namespace rematch::spec
