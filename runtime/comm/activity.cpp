#include "runtime/comm/activity.h"

#include "probes/host/clock.h"

namespace rematch::comm {

Activity::Activity() { state_.since_ns = probes::mono_ns(); }

void Activity::begin(const std::string& axis, std::string_view operation) {
  const std::lock_guard lock(mutex_);
  ++state_.num_begun;
  state_.axis = axis;
  state_.operation = operation;
  state_.index = ++num_begun_over_[axis];
  state_.since_ns = probes::mono_ns();
}

void Activity::end() {
  const std::lock_guard lock(mutex_);
  state_.axis.clear();
  state_.operation.clear();
  state_.since_ns = probes::mono_ns();
}

Activity::State Activity::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

}  // namespace rematch::comm
