#include "orchestrator/engine/trial_runner.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <utility>

#include "orchestrator/engine/held_signals.h"
#include "orchestrator/engine/record_tail.h"

namespace rematch::engine {

namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kProgressInterval{500};

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::string first_words(StopCause cause) {
  if (cause == StopCause::kTimeLimit) return "the time limit is near (SIGUSR1): ending the trial in flight";
  return "interrupted: ending the trial in flight; once more to end it at once";
}

}  // namespace

class TrialRunner::Impl {
 public:
  Impl(launch::Launcher& launcher, StartOptions start, Listener& listener, Overseer* overseer)
      : launcher_(launcher), start_(std::move(start)), listener_(listener), overseer_(overseer) {
    wait_for_signal();
    if (overseer_ != nullptr) beat_on();
  }

  base::Result<protocol::LaunchRecord> run(const TrialPlace& place, const AttemptOnDisk& attempt, const RemainingTime& remaining) {
    std::optional<base::Result<protocol::LaunchRecord>> ended;
    const launch::LaunchRequest request{start_.trainer, attempt.folder, attempt.attempt, place.trial, start_.step};
    running_ = launcher_.start(context_, request, [&](base::Result<protocol::LaunchRecord> record) { ended.emplace(std::move(record)); });
    const Watch watch{place, attempt, remaining, Clock::now(), ++num_watches_};
    report_progress(watch);
    while (!ended) context_.run_one();
    ++num_watches_;  // a progress report that is already queued is past cancelling: it must see that its trial is over
    progress_timer_.cancel();
    running_.reset();
    return *std::move(ended);
  }

  std::optional<StopCause> stop_cause() {
    context_.poll();
    return cause_;
  }

  void await_stop_cause(std::chrono::milliseconds most) {
    const auto deadline = Clock::now() + most;
    while (!cause_ && Clock::now() < deadline) context_.run_one_until(deadline);
  }

  void beat() {
    if (overseer_ == nullptr || cause_ == StopCause::kSuperseded) return;
    const auto cause = overseer_->beat();
    if (!cause) return;
    note(*cause);
    if (running_) running_->stop(cause == StopCause::kSuperseded ? launch::StopKind::kNow : launch::StopKind::kCleanly);
  }

 private:
  struct Watch {
    const TrialPlace& place;
    const AttemptOnDisk& attempt;
    const RemainingTime& remaining;
    Clock::time_point begin;
    std::int64_t number;  // the references hold as long as this is num_watches_
  };

  void report_progress(const Watch& watch) {
    progress_timer_.expires_after(kProgressInterval);
    progress_timer_.async_wait([this, watch](const boost::system::error_code& error) {
      if (error || watch.number != num_watches_) return;
      const RunningSteps steps = read_running_steps(watch.attempt.folder, watch.place.trial);
      const double fraction = static_cast<double>(steps.num_steps_completed) / static_cast<double>(watch.place.trial.training.train_iters);
      listener_.trial_progressed(watch.place, {steps.num_steps_completed, steps.hot_peak_allocated_bytes,
                                               watch.remaining.seconds_left(seconds_since(watch.begin), fraction)});
      report_progress(watch);
    });
  }

  void beat_on() {
    beat_timer_.expires_after(kBeatInterval);
    beat_timer_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      beat();
      beat_on();
    });
  }

  void wait_for_signal() {
    signals_.async_wait([this](const boost::system::error_code& error, int number) {
      if (error) return;
      ++num_signals_;
      const bool first = num_signals_ == 1;
      note(cause_of_signal(number));
      listener_.remarked(first ? first_words(cause_of_signal(number)) : "interrupted again: ending at once");
      if (running_) running_->stop(first ? launch::StopKind::kCleanly : launch::StopKind::kNow);
      wait_for_signal();
    });
  }

  // A user or the cluster that ends this run does not want it back, whatever came before; of one that is superseded nothing counts.
  void note(StopCause cause) {
    if (cause_ == StopCause::kSuperseded) return;
    if (!cause_ || cause == StopCause::kSignal || cause == StopCause::kSuperseded) cause_ = cause;
  }

  launch::Launcher& launcher_;
  StartOptions start_;
  Listener& listener_;
  Overseer* overseer_;
  asio::io_context context_{1};
  asio::signal_set signals_{context_, SIGINT, SIGTERM, SIGUSR1};
  DeliveredSignals delivered_;  // after signals_: nothing is delivered that it would miss
  asio::steady_timer progress_timer_{context_};
  asio::steady_timer beat_timer_{context_};
  std::unique_ptr<launch::RunningAttempt> running_;
  int num_signals_ = 0;
  std::optional<StopCause> cause_;
  std::int64_t num_watches_ = 0;
};

TrialRunner::TrialRunner(launch::Launcher& launcher, StartOptions start, Listener& listener, Overseer* overseer)
    : impl_(std::make_unique<Impl>(launcher, std::move(start), listener, overseer)) {}
TrialRunner::~TrialRunner() = default;

base::Result<protocol::LaunchRecord> TrialRunner::run(const TrialPlace& place, const AttemptOnDisk& attempt,
                                                      const RemainingTime& remaining) {
  return impl_->run(place, attempt, remaining);
}

std::optional<StopCause> TrialRunner::stop_cause() { return impl_->stop_cause(); }
void TrialRunner::await_stop_cause(std::chrono::milliseconds most) { impl_->await_stop_cause(most); }
void TrialRunner::beat() { impl_->beat(); }

}  // namespace rematch::engine
