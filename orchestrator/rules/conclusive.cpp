#include "orchestrator/rules/conclusive.h"

namespace rematch::rules {

bool is_conclusive(const base::AttemptRows& attempt) {
  if (!attempt.failure) return true;
  switch (attempt.failure->kind) {
    case protocol::FailureKind::kInterrupted:
    case protocol::FailureKind::kLost:
    case protocol::FailureKind::kLaunch:
    case protocol::FailureKind::kPreempted:
    case protocol::FailureKind::kNodeFail: return false;
    case protocol::FailureKind::kOom:
    case protocol::FailureKind::kHostOom:
    case protocol::FailureKind::kComm:
    case protocol::FailureKind::kTimeout:
    case protocol::FailureKind::kNumerics:
    case protocol::FailureKind::kCrashed:
    case protocol::FailureKind::kBadExit: return true;
  }
  return true;
}

}  // namespace rematch::rules
