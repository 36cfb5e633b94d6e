#include "orchestrator/launch/srun_step.h"

#include <signal.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "orchestrator/launch/allocation.h"
#include "orchestrator/launch/attempt_processes.h"
#include "orchestrator/launch/find_program.h"
#include "orchestrator/launch/host_names.h"
#include "orchestrator/launch/node_parts.h"
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

}  // namespace

SrunStep::SrunStep(asio::io_context& context, const LaunchRequest& request, OnAttemptEnd on_end)
    : context_(context),
      request_(request),
      on_end_(std::move(on_end)),
      notices_(context),
      words_(context),
      start_deadline_(context),
      stragglers_(context),
      overdue_(context),
      parts_timer_(context) {}

void SrunStep::start() {
  start_unix_ns_ = unix_now_ns();
  auto problem = prepare();
  if (!problem) {
    auto srun = start_srun();
    if (srun)
      srun_ = std::move(srun).value();
    else
      problem = srun.error();
  }
  if (srun_) return watch_srun();
  problem_ = StepProblem{LaunchEnd::kLaunchFailed, problem->message};
  asio::post(context_, [self = shared_from_this()] {
    StepParts step;
    step.parts.resize(static_cast<std::size_t>(std::max<std::int64_t>(1, self->request_.step.num_nodes)));
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

base::Result<std::unique_ptr<ChildProcess>> SrunStep::start_srun() {
  const auto program = find_program("srun");
  if (!program) return base::Error{"wanted srun on PATH, found none; the launcher srun works inside a job of a Slurm cluster"};
  control_ = std::make_unique<ControlChannel>();
  ProcessSpec spec;
  spec.program = *program;
  spec.arguments = step_arguments(request_, resources_from_environment(), own_program(),
                                  {request_.trainer, request_.attempt_folder, request_.attempt, port_->number()});
  spec.input_descriptor = control_->far();
  spec.output_descriptor = notices_.child_end();
  spec.error_descriptor = words_.child_end();
  spec.environment = attempt_mark(request_.attempt_folder);
  spec.environment[protocol::kCrashVariable] = "";  // it is the controller's alone
  spec.placement = Placement::kNewSession;
  protocol::pass_write_boundary("about to start", "job step");
  auto srun = start_process(context_, spec);
  protocol::pass_write_boundary("started", "job step");
  control_->close_far();
  return srun;
}

void SrunStep::watch_srun() {
  const auto on_stream_end = [this] {
    --num_open_streams_;
    finish_when_ended();
  };
  notices_.read(
      weak_from_this(), [this](const std::string& line) { hear_notice(line); }, on_stream_end);
  words_.read(
      weak_from_this(), [this](const std::string& line) { hear_words(line); }, on_stream_end);
  srun_->wait([weak = weak_from_this()](ProcessEnd end) {
    const auto self = weak.lock();
    if (!self) return;
    self->srun_end_ = end;
    self->start_deadline_.cancel();
    self->stragglers_.cancel();
    self->after(self->overdue_, kStreamsGrace, &SrunStep::finish);
    self->finish_when_ended();
  });
  after(start_deadline_, request_.step.start_deadline, &SrunStep::on_start_deadline);
  end_within(Milliseconds(request_.trial.timeout_ms) + request_.step.start_deadline + kSupervisorGrace);
}

void SrunStep::stop(StopKind kind) {
  if (over_ || !srun_ || srun_end_) return;
  if (started_.empty()) {
    problem_ = StepProblem{LaunchEnd::kInterrupted, "stopped on request, before a supervisor had started"};
    return terminate_step();
  }
  control_->send(kind == StopKind::kNow ? kStopNow : kStopCleanly);
  end_within(kSupervisorGrace);
}

void SrunStep::give_up() {
  over_ = true;
  control_.reset();  // its end reaches each supervisor as the end of its stdin
  notices_.close();
  words_.close();
  for (asio::steady_timer* timer : {&start_deadline_, &stragglers_, &overdue_, &parts_timer_}) timer->cancel();
}

void SrunStep::hear_notice(const std::string& line) {
  const auto notice = parse_notice_line(line);
  if (!notice || notice->node >= request_.step.num_nodes) return;
  switch (notice->what) {
    case NodeNotice::What::kStarted:
      started_.insert(notice->node);
      if (static_cast<std::int64_t>(started_.size()) == request_.step.num_nodes) start_deadline_.cancel();
      return;
    case NodeNotice::What::kFailed:
      failed_nodes_.push_back(notice->node);
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

void SrunStep::on_stragglers() { end_others(kPeersDone); }

void SrunStep::end_others(char command) {
  if (ending_ || srun_end_) return;
  ending_ = true;
  control_->send(command);
  end_within(kSupervisorGrace);
}

void SrunStep::end_within(Milliseconds limit) { after(overdue_, limit, &SrunStep::terminate_step); }

void SrunStep::terminate_step() {
  if (srun_end_) return;
  ::kill(srun_->pid(), SIGTERM);
  after(overdue_, kTerminated, &SrunStep::kill_srun);
}

void SrunStep::kill_srun() {
  if (!srun_end_) ::kill(srun_->pid(), SIGKILL);
}

void SrunStep::finish_when_ended() {
  if (srun_end_ && num_open_streams_ == 0) finish();
}

// Supervisors that all ended with 0 have written their parts, which a shared file system may show later.
void SrunStep::finish() {
  overdue_.cancel();
  StepParts step;
  step.parts = read_parts(request_.attempt_folder, request_.step.num_nodes);
  const bool is_whole = std::all_of(step.parts.begin(), step.parts.end(), [](const auto& part) { return part.has_value(); });
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
  const bool any_part = std::any_of(step.parts.begin(), step.parts.end(), [](const auto& part) { return part.has_value(); });
  if (any_part || !started_.empty()) return std::nullopt;
  return StepProblem{LaunchEnd::kLaunchFailed, "srun " + how_it_ended(*srun_end_) + " before a supervisor had started: " + words()};
}

void SrunStep::report(StepParts step) {
  if (std::exchange(over_, true)) return;
  const auto list = environment_text("SLURM_JOB_NODELIST");
  const bool is_whole = std::all_of(step.parts.begin(), step.parts.end(), [](const auto& part) { return part.has_value(); });
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

}  // namespace rematch::launch
