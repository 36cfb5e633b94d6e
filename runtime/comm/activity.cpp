#include "runtime/comm/activity.h"

#include <utility>

#include "probes/host/clock.h"

namespace rematch::comm {

Activity::Activity() { state_.since_ns = probes::mono_ns(); }

void Activity::begin(const std::string& axis, std::string_view operation) {
  const std::lock_guard lock(mutex_);
  ++state_.num_begun[axis];
  enter(axis, operation, {});
}

void Activity::begin_messages(const std::string& axis, std::string_view operation, std::vector<int> peers) {
  const std::lock_guard lock(mutex_);
  enter(axis, operation, std::move(peers));
}

void Activity::enter(const std::string& axis, std::string_view operation, std::vector<int> peers) {
  state_.axis = axis;
  state_.operation = operation;
  state_.peers = std::move(peers);
  state_.since_ns = probes::mono_ns();
}

void Activity::end() {
  const std::lock_guard lock(mutex_);
  state_.axis.clear();
  state_.operation.clear();
  state_.peers.clear();
  state_.since_ns = probes::mono_ns();
}

Activity::State Activity::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

}  // namespace rematch::comm
