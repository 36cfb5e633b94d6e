#include "orchestrator/base/verdicts.h"

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

int exit_code(Conclusion conclusion) {
  switch (conclusion) {
    case Conclusion::kUsable: return 0;
    case Conclusion::kCandidateFailed: return 4;
    case Conclusion::kNoneMeetsBudget: return 5;
    case Conclusion::kControlInvalid: return 6;
  }
  return 1;
}

}  // namespace rematch::base
