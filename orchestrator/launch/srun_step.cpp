#include "orchestrator/launch/srun_step.h"

#include <signal.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "orchestrator/launch/allocation.h"
#include "orchestrator/launch/attempt_lock.h"
#include "orchestrator/launch/attempt_processes.h"
#include "orchestrator/launch/host_names.h"
#include "orchestrator/launch/node_parts.h"
#include "orchestrator/launch/reserved_port.h"
#include "orchestrator/launch/srun_process.h"
#include "orchestrator/launch/step_command.h"
#include "orchestrator/launch/supervisor.h"
#include "schemas/protocol/write_boundary.h"

namespace rematch::launch {

namespace {

namespace asio = boost::asio;
using protocol::LaunchEnd;

// Past the trial's deadline, or after the supervisors were told to end: beyond hope after this much.
constexpr std::chrono::milliseconds kSupervisorGrace{30'000};
constexpr std::chrono::milliseconds kTerminated{15'000};   // from SIGTERM to srun, which kills the step, until srun must be gone
constexpr std::chrono::milliseconds kStreamsGrace{2'000};  // from srun's end until its streams must have ended
constexpr std::chrono::milliseconds kPartsGrace{10'000};   // from srun's end until parts must be visible on a shared file system
constexpr std::chrono::milliseconds kPartsInterval{100};
constexpr std::chrono::milliseconds kKilled{10'000};  // from SIGKILL until what a lost supervisor left is gone
constexpr std::size_t kMostWords = 12;                // lines of srun

std::string how_it_ended(const ProcessEnd& end) {
  if (end.signal) return "was killed by signal " + std::to_string(*end.signal);
  return "ended with exit code " + std::to_string(end.exit_code.value_or(-1));
}

std::filesystem::path own_program() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path("/proc/self/exe") : self;
}

bool is_there(const std::optional<protocol::LaunchRecord>& part) { return part.has_value(); }

// Shared by its handlers and the attempt that it belongs to.
class SrunStep : public std::enable_shared_from_this<SrunStep> {
 public:
  SrunStep(asio::io_context& context, const LaunchRequest& request, OnAttemptEnd on_end)
      : context_(context),
        request_(request),
        on_end_(std::move(on_end)),
        start_deadline_(context),
        stragglers_(context),
        overdue_(context),
        parts_timer_(context) {}
  void start();
  void stop(StopKind kind);
  // Ends the step without a word to the caller; the parts stay for whoever looks for them.
  void give_up() {
    over_ = true;
    srun_.reset();
  }

 private:
  using Milliseconds = std::chrono::milliseconds;
  using Handler = void (SrunStep::*)();

  std::optional<base::Error> prepare();
  std::optional<base::Error> start_process_of_step();
  void fail_to_start(const base::Error& problem);
  void hear_notice(const NodeNotice& notice);
  void hear_words(const std::string& line);
  void on_start_deadline();
  void on_stragglers() { end_others(kPeersDone); }
  void end_others(char command);
  void end_within(Milliseconds limit) { after(overdue_, limit, &SrunStep::terminate_step); }
  void terminate_step();
  void kill_srun() { srun_->signal(SIGKILL); }
  void on_srun_end(const ProcessEnd& end);
  void finish();
  void report(StepParts step);
  void after(asio::steady_timer& timer, Milliseconds delay, Handler handler);
  std::string words() const;
  std::optional<StepProblem> problem_of(const StepParts& step) const;

  asio::io_context& context_;
  LaunchRequest request_;
  OnAttemptEnd on_end_;
  std::int64_t start_unix_ns_ = 0;
  std::optional<AttemptLock> lock_;
  std::optional<ReservedPort> port_;
  std::unique_ptr<SrunProcess> srun_;
  asio::steady_timer start_deadline_;
  asio::steady_timer stragglers_;
  asio::steady_timer overdue_;
  asio::steady_timer parts_timer_;
  std::optional<ProcessEnd> srun_end_;
  std::set<std::int64_t> started_;          // nodes
  std::vector<std::int64_t> failed_nodes_;  // in the order of their notices
  std::vector<std::string> last_words_;     // srun's last lines
  std::optional<std::string> node_failure_;
  std::optional<StepProblem> problem_;  // found by the launcher itself
  std::int64_t parts_wanted_until_ns_ = 0;
  bool ending_ = false;
  bool over_ = false;  // reported, or given up
};

void SrunStep::start() {
  start_unix_ns_ = unix_now_ns();
  auto problem = prepare();
  if (!problem) problem = start_process_of_step();
  if (problem) return fail_to_start(*problem);
  after(start_deadline_, request_.step.start_deadline, &SrunStep::on_start_deadline);
  end_within(Milliseconds(request_.trial.timeout_ms) + request_.step.start_deadline + kSupervisorGrace);
}

void SrunStep::fail_to_start(const base::Error& problem) {
  problem_ = StepProblem{LaunchEnd::kLaunchFailed, problem.message};
  asio::post(context_, [self = shared_from_this()] {
    StepParts step;
    step.parts.resize(static_cast<std::size_t>(self->request_.step.num_nodes));
    self->report(std::move(step));
  });
}

std::optional<base::Error> SrunStep::prepare() {
  if (auto problem = refuse_layout(request_.trial, request_.step.num_nodes)) {
    request_.step.num_nodes = 1;
    return problem;
  }
  auto lock = AttemptLock::try_take(request_.attempt_folder);
  if (!lock) return base::Error{request_.attempt_folder.string() + " is no folder, or another launcher works on it"};
  lock_.emplace(std::move(*lock));
  make_node_folders(request_.attempt_folder, request_.step.num_nodes);
  auto port = ReservedPort::take(PortReach::kAllHosts);
  if (!port) return port.error();
  port_.emplace(std::move(port).value());
  return std::nullopt;
}

std::optional<base::Error> SrunStep::start_process_of_step() {
  const SuperviseArguments supervise{request_.trainer, request_.attempt_folder, request_.attempt, port_->number()};
  auto environment = attempt_mark(request_.attempt_folder);
  environment[protocol::kCrashVariable] = "";  // it is the controller's alone
  const auto guarded = [weak = weak_from_this()](auto hear) {
    return [weak, hear](const auto& heard) {
      if (const auto self = weak.lock()) hear(*self, heard);
    };
  };
  SrunListener listener;
  listener.on_notice = guarded([](SrunStep& step, const NodeNotice& notice) { step.hear_notice(notice); });
  listener.on_words = guarded([](SrunStep& step, const std::string& line) { step.hear_words(line); });
  listener.on_end = guarded([](SrunStep& step, const ProcessEnd& end) { step.on_srun_end(end); });
  auto srun = start_srun(context_, step_arguments(request_, resources_from_environment(), own_program(), supervise), environment,
                         std::move(listener));
  if (!srun) return srun.error();
  srun_ = std::move(srun).value();
  return std::nullopt;
}

void SrunStep::stop(StopKind kind) {
  if (over_ || !srun_ || srun_end_) return;
  if (started_.empty()) {
    problem_ = StepProblem{LaunchEnd::kInterrupted, "stopped on request, before a supervisor had started"};
    return terminate_step();
  }
  srun_->send(kind == StopKind::kNow ? kStopNow : kStopCleanly);
  end_within(kSupervisorGrace);
}

void SrunStep::hear_notice(const NodeNotice& notice) {
  if (notice.node >= request_.step.num_nodes) return;
  switch (notice.what) {
    case NodeNotice::What::kStarted:
      started_.insert(notice.node);
      if (static_cast<std::int64_t>(started_.size()) == request_.step.num_nodes) start_deadline_.cancel();
      return;
    case NodeNotice::What::kFailed:
      failed_nodes_.push_back(notice.node);
      start_deadline_.cancel();
      return end_others(kPeerFailed);
    case NodeNotice::What::kDone:
      if (!ending_) after(stragglers_, Graces{}.stragglers, &SrunStep::on_stragglers);
      return;
  }
}

void SrunStep::hear_words(const std::string& line) {
  last_words_.push_back(line);
  if (last_words_.size() > kMostWords) last_words_.erase(last_words_.begin());
  if (node_failure_ || line.find("Node failure on ") == std::string::npos) return;
  node_failure_ = line;
  end_others(kPeerFailed);
}

void SrunStep::on_start_deadline() {
  problem_ = StepProblem{LaunchEnd::kLaunchFailed, "wanted a supervisor on each of " + std::to_string(request_.step.num_nodes) +
                                                       " nodes within " + std::to_string(request_.step.start_deadline.count()) +
                                                       " ms, found " + std::to_string(started_.size()) + ": " + words()};
  terminate_step();
}

void SrunStep::end_others(char command) {
  if (ending_ || srun_end_) return;
  ending_ = true;
  srun_->send(command);
  end_within(kSupervisorGrace);
}

void SrunStep::terminate_step() {
  srun_->signal(SIGTERM);
  after(overdue_, kTerminated, &SrunStep::kill_srun);
}

void SrunStep::on_srun_end(const ProcessEnd& end) {
  srun_end_ = end;
  for (asio::steady_timer* timer : {&start_deadline_, &stragglers_, &overdue_}) timer->cancel();
  finish();
}

// Supervisors that all ended with 0 have written their parts, which a shared file system may show later.
void SrunStep::finish() {
  StepParts step;
  step.parts = read_parts(request_.attempt_folder, request_.step.num_nodes);
  const bool is_whole = std::all_of(step.parts.begin(), step.parts.end(), is_there);
  if (!is_whole && srun_end_->exit_code == 0 && !node_failure_) {
    if (parts_wanted_until_ns_ == 0) parts_wanted_until_ns_ = mono_now_ns() + std::chrono::nanoseconds(kPartsGrace).count();
    if (mono_now_ns() < parts_wanted_until_ns_) return after(parts_timer_, kPartsInterval, &SrunStep::finish);
  }
  if (!problem_) problem_ = problem_of(step);
  if (is_whole && problem_ && problem_->end == LaunchEnd::kInterrupted) problem_.reset();
  report(std::move(step));
}

// A node that fails after its part was written failed too late to matter. A supervisor that outlives its node's step, and loses its stdin
// with it, is one of a lost node: the launcher is here.
std::optional<StepProblem> SrunStep::problem_of(const StepParts& step) const {
  const auto is_lost = [](const auto& part) { return !part || part->end == LaunchEnd::kControllerLost; };
  if (!std::any_of(step.parts.begin(), step.parts.end(), is_lost)) return std::nullopt;
  if (node_failure_) return StepProblem{LaunchEnd::kNodeFailed, *node_failure_};
  const bool any_part = std::any_of(step.parts.begin(), step.parts.end(), is_there);
  if (any_part || !started_.empty()) return std::nullopt;
  return StepProblem{LaunchEnd::kLaunchFailed, "srun " + how_it_ended(*srun_end_) + " before a supervisor had started: " + words()};
}

void SrunStep::report(StepParts step) {
  if (std::exchange(over_, true)) return;
  const auto list = environment_text("SLURM_JOB_NODELIST");
  const bool is_whole = std::all_of(step.parts.begin(), step.parts.end(), is_there);
  if (!is_whole && list)
    if (auto names = host_names(*list)) step.node_names = std::move(names).value();
  step.failed_nodes = failed_nodes_;
  step.problem = problem_;
  step.step_words = srun_end_ ? how_it_ended(*srun_end_) + ": " + words() : "";
  const protocol::LaunchRecord record =
      write_merged(request_.attempt_folder, request_.trial, step, {request_.attempt, start_unix_ns_, unix_now_ns()});
  if (!is_whole) end_attempt_processes(request_.attempt_folder, kKilled);  // their supervisor could not; those of this host can be seen
  lock_.reset();
  const OnAttemptEnd report_end = on_end_;  // the callee may drop this attempt
  report_end(record);
}

std::string SrunStep::words() const {
  std::string text;
  for (const std::string& line : last_words_) text += (text.empty() ? "" : "; ") + line;
  return text.empty() ? "it said nothing" : text;
}

void SrunStep::after(asio::steady_timer& timer, Milliseconds delay, Handler handler) {
  timer.expires_after(delay);
  timer.async_wait([weak = weak_from_this(), handler](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!error && self && !self->over_) (self.get()->*handler)();
  });
}

class SrunAttempt final : public RunningAttempt {
 public:
  explicit SrunAttempt(std::shared_ptr<SrunStep> step) : step_(std::move(step)) { step_->start(); }
  ~SrunAttempt() override { step_->give_up(); }
  SrunAttempt(const SrunAttempt&) = delete;
  SrunAttempt& operator=(const SrunAttempt&) = delete;
  void stop(StopKind kind) override { step_->stop(kind); }

 private:
  std::shared_ptr<SrunStep> step_;
};

}  // namespace

std::unique_ptr<RunningAttempt> start_srun_step(asio::io_context& context, const LaunchRequest& request, OnAttemptEnd on_end) {
  return std::make_unique<SrunAttempt>(std::make_shared<SrunStep>(context, request, std::move(on_end)));
}

}  // namespace rematch::launch
