// The launcher "local": all ranks on this machine, under one supervisor a trial. The supervisor is this same program, started again.
#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>

#include "orchestrator/launch/attempt_lock.h"
#include "orchestrator/launch/attempt_processes.h"
#include "orchestrator/launch/control_channel.h"
#include "orchestrator/launch/descriptor_limit.h"
#include "orchestrator/launch/launcher.h"
#include "orchestrator/launch/process.h"
#include "orchestrator/launch/supervisor.h"
#include "schemas/protocol/document_error.h"
#include "schemas/protocol/trial_paths.h"
#include "schemas/protocol/write_boundary.h"

namespace rematch::launch {

namespace {

namespace asio = boost::asio;

// A supervisor that outlives the trial's deadline by this much is beyond hope.
constexpr std::chrono::milliseconds kSupervisorGrace{30'000};
// From SIGKILL until what a lost supervisor left is gone.
constexpr std::chrono::milliseconds kKilled{10'000};

base::Result<protocol::LaunchRecord> read_record(const std::filesystem::path& attempt_folder, const ProcessEnd& end) {
  const std::filesystem::path path = protocol::AttemptPaths{attempt_folder}.launch();
  if (!std::filesystem::exists(path)) {
    const std::string how = end.signal ? "was killed by signal " + std::to_string(*end.signal)
                                       : "ended with exit code " + std::to_string(end.exit_code.value_or(-1));
    return base::Error{"the supervisor of " + attempt_folder.string() + " " + how + " and left no launch.json"};
  }
  try {
    return protocol::read_launch_record(path.string());
  } catch (const protocol::DocumentError& problem) {
    return base::Error{problem.what()};
  }
}

class LocalAttempt final : public RunningAttempt {
 public:
  LocalAttempt(asio::io_context& context, const LaunchRequest& request, OnAttemptEnd on_end)
      : folder_(request.attempt_folder), on_end_(std::move(on_end)), overdue_(context) {
    ProcessSpec spec;
    spec.program = "/proc/self/exe";
    spec.arguments = supervise_command({request.trainer, request.attempt_folder, request.attempt, std::nullopt});
    spec.input_descriptor = control_.far();
    spec.environment = attempt_mark(request.attempt_folder);
    spec.environment[protocol::kCrashVariable] = "";  // it is the controller's alone
    spec.placement = Placement::kNewSession;
    protocol::pass_write_boundary("about to start", "supervisor");
    auto supervisor = start_process(context, spec);
    protocol::pass_write_boundary("started", "supervisor");
    control_.close_far();
    if (!supervisor) {
      asio::post(context, [report = on_end_, error = supervisor.error()] { report(error); });
      return;
    }
    supervisor_ = std::move(supervisor).value();
    supervisor_->wait([this](ProcessEnd end) {
      overdue_.cancel();
      if (end.exit_code != 0) end_attempt_processes(folder_, kKilled);  // it could not do so itself
      const OnAttemptEnd report = on_end_;                              // the callee may drop this attempt
      report(read_record(folder_, end));
    });
    end_when_overdue(std::chrono::milliseconds(request.trial.timeout_ms) + kSupervisorGrace);
  }

  void stop(StopKind kind) override { control_.send(kind == StopKind::kNow ? kStopNow : kStopCleanly); }

 private:
  void end_when_overdue(std::chrono::milliseconds limit) {
    overdue_.expires_after(limit);
    // Queued already, it is past cancelling: then this attempt may be gone.
    overdue_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](const boost::system::error_code& error) {
      if (!error && !alive.expired() && supervisor_->running()) ::kill(supervisor_->pid(), SIGKILL);  // its ranks die with it
    });
  }

  std::filesystem::path folder_;
  OnAttemptEnd on_end_;
  asio::steady_timer overdue_;
  ControlChannel control_;
  std::unique_ptr<ChildProcess> supervisor_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

class LocalLauncher final : public Launcher {
 public:
  std::string name() const override { return "local"; }
  std::unique_ptr<RunningAttempt> start(asio::io_context& context, const LaunchRequest& request, OnAttemptEnd on_end) override {
    return std::make_unique<LocalAttempt>(context, request, std::move(on_end));
  }
  std::optional<base::Error> refuse(std::int64_t num_ranks) override { return allow_ranks(num_ranks); }
  bool wait_until_gone(const std::filesystem::path& attempt_folder, const LockWait& wait) override {
    return wait_until_unsupervised(attempt_folder, wait) && end_attempt_processes(attempt_folder, kKilled);
  }
};

const LauncherRegistrar<LocalLauncher> registrar("local");

}  // namespace

}  // namespace rematch::launch
