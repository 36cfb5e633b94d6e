#include "orchestrator/engine/trial_runner.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <memory>
#include <thread>

#include "tests/support/make_trial.h"

namespace rematch::engine {
namespace {

struct NothingToStop final : launch::RunningAttempt {
  void stop(launch::StopKind) override {}
};

// An attempt whose end is handled while the controller is too busy to look at its timers for longer than a progress interval.
class BusyLauncher final : public launch::Launcher {
 public:
  std::string name() const override { return "busy"; }
  std::unique_ptr<launch::RunningAttempt> start(boost::asio::io_context& context, const launch::LaunchRequest&,
                                                launch::OnAttemptEnd on_end) override {
    boost::asio::post(context, [&context, on_end] {
      std::this_thread::sleep_for(std::chrono::milliseconds(600));
      boost::asio::post(context, [on_end] { on_end(protocol::LaunchRecord{}); });
    });
    return std::make_unique<NothingToStop>();
  }
  bool wait_until_gone(const std::filesystem::path&, const launch::LockWait&) override { return true; }
};

struct CountingListener final : Listener {
  void trial_started(const TrialPlace&) override {}
  void trial_progressed(const TrialPlace&, const TrialProgress&) override { ++num_reports; }
  void trial_ended(const TrialPlace&, const base::AttemptRows&) override {}
  void remarked(const std::string&) override {}
  int num_reports = 0;
};

TEST(TrialRunner, ReportsNoProgressOfATrialThatIsOver) {
  BusyLauncher launcher;
  CountingListener listener;
  TrialRunner runner(launcher, {"no-trainer"}, listener);
  const protocol::Trial trial = tests::make_trial();
  const AttemptOnDisk attempt{1, "no-folder", false};
  const RemainingTime remaining(1);
  runner.run({trial, 1, 1, 1}, attempt, remaining);
  const int num_while_it_ran = listener.num_reports;
  EXPECT_FALSE(runner.stop_cause());  // handles what is queued
  EXPECT_EQ(listener.num_reports, num_while_it_ran);
}

}  // namespace
}  // namespace rematch::engine
