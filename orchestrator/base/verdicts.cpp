#include "orchestrator/base/verdicts.h"

#include <algorithm>

namespace rematch::base {

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass: return "pass";
    case Outcome::kFail: return "fail";
    case Outcome::kBorderline: return "borderline";
    case Outcome::kInactive: return "inactive";
    case Outcome::kInvalid: return "invalid";
    case Outcome::kSkipped: return "skipped";
    case Outcome::kInterrupted: return "interrupted";
    case Outcome::kLost: return "lost";
    case Outcome::kNotRun: return "not run";
  }
  return "unknown";
}

std::string_view to_string(TimeWord word) {
  switch (word) {
    case TimeWord::kEqual: return "equal";
    case TimeWord::kFaster: return "faster";
    case TimeWord::kSlower: return "slower";
    case TimeWord::kUndecided: return "undecided";
  }
  return "unknown";
}

std::string_view to_string(MemoryWord word) {
  switch (word) {
    case MemoryWord::kEqual: return "equal";
    case MemoryWord::kLower: return "lower";
    case MemoryWord::kHigher: return "higher";
    case MemoryWord::kUndecided: return "undecided";
  }
  return "unknown";
}

int exit_code(Conclusion conclusion) {
  switch (conclusion) {
    case Conclusion::kUsable: return 0;
    case Conclusion::kCandidateFailed: return 4;
    case Conclusion::kNoneMeetsBudget: return 5;
    case Conclusion::kControlInvalid: return 6;
    case Conclusion::kUnmatched: return 7;
  }
  return 1;
}

const ArmVerdict* find_arm(const StudyVerdict& verdict, const std::string& arm) {
  const auto found = std::find_if(verdict.arms.begin(), verdict.arms.end(), [&](const ArmVerdict& each) { return each.arm == arm; });
  return found == verdict.arms.end() ? nullptr : &*found;
}

bool is_reference(const StudyVerdict& verdict, const std::string& arm) {
  return std::any_of(verdict.groups.begin(), verdict.groups.end(), [&](const GroupVerdict& group) { return group.reference_arm == arm; });
}

}  // namespace rematch::base
