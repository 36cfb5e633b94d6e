#include "runtime/recompute/region_times.h"

#include <ctime>

namespace rematch::recompute {

namespace {

thread_local RegionTimes* open_times = nullptr;

}  // namespace

std::int64_t thread_cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

RegionTimes::RegionTimes() { open_times = this; }
RegionTimes::~RegionTimes() { open_times = nullptr; }

RegionTimer::RegionTimer(const std::string& label, Pass pass) : log_(open_times), pass_(pass) {
  if (log_ == nullptr) return;
  if (pass_ == Pass::kReplay) ++log_->num_open_replays_;
  const auto [entry, outermost] = log_->open_.insert(label);
  if (outermost) label_ = entry;
  start_ns_ = thread_cpu_ns();
}

RegionTimer::~RegionTimer() {
  if (log_ == nullptr) return;
  const auto elapsed_ns = thread_cpu_ns() - start_ns_;
  if (label_) {
    auto& time = log_->by_label_[**label_];
    (log_->num_open_replays_ > 0 ? time.replay_ns : time.forward_ns) += elapsed_ns;
    ++(log_->num_open_replays_ > 0 ? time.num_replays : time.num_forwards);
    log_->open_.erase(*label_);
  }
  if (pass_ == Pass::kReplay) --log_->num_open_replays_;
}

}  // namespace rematch::recompute
