#include "orchestrator/launch/supervisor.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "orchestrator/launch/attempt_lock.h"
#include "orchestrator/launch/descendants.h"
#include "orchestrator/launch/descriptor_limit.h"
#include "orchestrator/launch/full_disk.h"
#include "orchestrator/launch/kernel_oom.h"
#include "orchestrator/launch/last_words.h"
#include "orchestrator/launch/node_notice.h"
#include "orchestrator/launch/opening_record.h"
#include "orchestrator/launch/process.h"
#include "orchestrator/launch/rank_environment.h"
#include "orchestrator/launch/rank_share.h"
#include "orchestrator/launch/reserved_port.h"
#include "orchestrator/launch/this_host.h"
#include "schemas/protocol/launch_record.h"
#include "schemas/protocol/outcome.h"
#include "schemas/protocol/record_file.h"
#include "schemas/protocol/trial.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::launch {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using protocol::LaunchEnd;
using std::chrono::milliseconds;

class Supervisor {
 public:
  Supervisor(const SuperviseArguments& arguments, const Graces& graces, protocol::Trial trial, RankShare share)
      : arguments_(arguments), graces_(graces), trial_(std::move(trial)), share_(std::move(share)), paths_{arguments.attempt_folder} {
    record_ = opening_record(arguments, trial_, share_);
  }

  protocol::LaunchRecord run() {
    if (controller_is_gone()) {
      record_.end = LaunchEnd::kControllerLost;
      record_.end_unix_ns = unix_now_ns();
      return record_;
    }
    watch_signals();
    if (start_ranks()) {
      tell_launcher(NodeNotice::What::kStarted);
      watch_control();
      deadline_.expires_after(milliseconds(trial_.timeout_ms));
      deadline_.async_wait([this](error_code error) {
        if (!error) end_attempt(LaunchEnd::kTimeout, "not done after " + std::to_string(trial_.timeout_ms) + " ms, the trial's deadline");
      });
    }
    if (num_running() > 0) context_.run();
    leave_nothing_behind();
    blame_full_disk();
    if (record_.end == LaunchEnd::kAllExited) tell_launcher(NodeNotice::What::kDone);
    record_.end_unix_ns = unix_now_ns();
    return record_;
  }

 private:
  // Nothing was started yet, so nothing needs ending.
  static bool controller_is_gone() {
    pollfd control{STDIN_FILENO, POLLIN, 0};
    return ::poll(&control, 1, 0) == 1 && (control.revents & POLLHUP) != 0;
  }

  bool start_ranks() {
    const auto num_ranks = static_cast<std::int64_t>(record_.ranks.size());
    auto problem = allow_ranks(num_ranks);
    if (!problem && !ranks_stand_alone()) problem = refuse_devices(trial_, record_.nodes.front(), num_ranks);
    if (!problem) problem = set_environment();
    if (problem) {
      fail_launch(problem->message);
      return false;
    }
    return start_next_ranks(ranks_stand_alone() ? num_cores() : record_.ranks.size());
  }

  std::optional<base::Error> set_environment() {
    std::int64_t port_number = arguments_.master_port.value_or(0);
    if (!arguments_.master_port) {
      auto port = ReservedPort::take();
      if (!port) return port.error();
      master_port_.emplace(std::move(port).value());
      port_number = master_port_->number();
    }
    record_.environment = shared_environment(trial_, share_, port_number);
    return std::nullopt;
  }

  // One of several is heard by the launcher of all: the lines of the nodes reach it in the order in which they are written.
  void tell_launcher(NodeNotice::What what) const {
    if (!arguments_.master_port) return;
    const std::string line = notice_line({what, share_.node});
    static_cast<void>(!::write(STDOUT_FILENO, line.data(), line.size()));  // a launcher that is gone needs no word
  }

  // Ranks that communicate with nobody: nothing that one does ends another, and not all must run at a time.
  bool ranks_stand_alone() const { return trial_.prediction.has_value(); }

  static std::size_t num_cores() { return std::max(1U, std::thread::hardware_concurrency()); }

  // The first `most` of those that were not started yet.
  bool start_next_ranks(std::size_t most) {
    const std::size_t first = children_.size();
    const std::size_t last = std::min(record_.ranks.size(), first + most);
    bool started = true;
    for (std::size_t i = first; i < last && started; ++i) started = start_rank(record_.ranks[i]);
    // Only now: a rank that is reaped takes the group with it that the later ranks join.
    for (std::size_t i = first; i < children_.size(); ++i)
      children_[i]->wait([this, i](ProcessEnd end) { on_rank_end(record_.ranks[i], end); });
    return started;
  }

  bool start_rank(protocol::RankExit& rank) {
    ProcessSpec spec;
    spec.program = arguments_.trainer;
    spec.arguments = {record_.command.begin() + 1, record_.command.end()};
    spec.environment = rank_environment(record_.environment, rank.rank, rank.rank - share_.node * ranks_per_node(trial_, share_));
    spec.output = paths_.rank_log(rank.rank);
    const bool opens_group = group_ == 0 || ranks_stand_alone();
    spec.placement = opens_group ? Placement::kNewGroup : Placement::kJoinGroup;
    spec.group = opens_group ? 0 : group_;
    spec.die_with_parent = true;
    rank.start_mono_ns = mono_now_ns();
    auto child = start_process(context_, spec);
    if (!child) {
      fail_launch("rank " + std::to_string(rank.rank) + ": " + child.error().message);
      return false;
    }
    rank.pid = child.value()->pid();
    if (opens_group) group_ = child.value()->pid();
    groups_.push_back(group_);
    children_.push_back(std::move(child).value());
    return true;
  }

  void fail_launch(const std::string& message) {
    std::cerr << "rematch supervise: " << message << "\n";
    end_attempt(LaunchEnd::kLaunchFailed, message);
  }

  void on_rank_end(protocol::RankExit& rank, const ProcessEnd& end) {
    rank.exit_code = end.exit_code;
    rank.signal = end.signal;
    rank.end_mono_ns = end.end_mono_ns;
    if (end.signal == SIGKILL && !rank.ended_by_supervisor)
      if (const auto killer = memory_kills_.account_for_one()) write_host_oom(paths_.rank_record(rank.rank), *killer, rank.end_mono_ns);
    const bool bad = end.exit_code != 0;
    if (ranks_stand_alone() && !ending_) return on_lone_rank_end(rank, bad);
    if (was_told_to_end(end) && !ending_ && !told_rank_) return wait_for_own_signal(rank.rank);
    if (told_rank_ && !ending_) return;  // decided with that one
    if (bad && !ending_) {
      record_.cause_rank = rank.rank;
      end_attempt(LaunchEnd::kRankFailed, "");
    }
    if (num_running() == 0) return context_.stop();
    if (!bad && !ending_ && !straggling_) wait_for_stragglers(rank.rank);
  }

  // By somebody else: what ends whole jobs, as Slurm does, sends SIGTERM to ranks and supervisor alike, in any order.
  static bool was_told_to_end(const ProcessEnd& end) {
    return end.signal == SIGTERM || end.exit_code == static_cast<int>(protocol::TrainExit::kInterrupted);
  }

  void wait_for_own_signal(std::int64_t rank) {
    told_rank_ = rank;
    told_.expires_after(graces_.told);
    told_.async_wait([this](error_code error) {
      if (error) return;
      if (!ending_) record_.cause_rank = told_rank_;
      end_attempt(LaunchEnd::kRankFailed, "");
      if (num_running() == 0) context_.stop();
    });
  }

  // Ranks that fail for want of disk say nothing of their arm.
  void blame_full_disk() {
    if (record_.end != LaunchEnd::kRankFailed) return;
    const auto full = full_disk(arguments_.attempt_folder);
    if (!full) return;
    record_.end = LaunchEnd::kLaunchFailed;
    record_.message = *full;
  }

  // Each of the others still says how far it gets.
  void on_lone_rank_end(const protocol::RankExit& rank, bool bad) {
    if (bad && !record_.cause_rank) {
      record_.cause_rank = rank.rank;
      record_.end = LaunchEnd::kRankFailed;
    }
    start_next_ranks(1);
    if (num_running() == 0) context_.stop();
  }

  void wait_for_stragglers(std::int64_t first_done) {
    straggling_ = true;
    stragglers_.expires_after(graces_.stragglers);
    stragglers_.async_wait([this, first_done](error_code error) {
      if (error || ending_) return;
      record_.cause_rank = finished_its_work(first_done) ? first_running() : first_done;
      end_attempt(LaunchEnd::kRankFailed, "rank " + std::to_string(first_done) + " ended with exit code 0, and " +
                                              std::to_string(num_running()) + " others went on for " +
                                              std::to_string(graces_.stragglers.count()) + " ms");
    });
  }

  // A rank may end with 0 before its work is done, or wait in vain for one that hangs after its own.
  bool finished_its_work(std::int64_t rank) const {
    const auto file = protocol::read_record_file(paths_.rank_record(rank));
    return !file.records.empty() && std::holds_alternative<protocol::ByeRecord>(file.records.back());
  }

  // The first reason wins; what follows from it is no reason of its own.
  void end_attempt(LaunchEnd why, const std::string& message) {
    if (ending_) return;
    ending_ = true;
    record_.end = why;
    record_.message = message;
    if (is_own(why)) tell_launcher(NodeNotice::What::kFailed);
    switch (why) {
      case LaunchEnd::kRankFailed: return terminate_after(graces_.settle, graces_.failed);
      case LaunchEnd::kAllExited:
      case LaunchEnd::kTimeout:
      case LaunchEnd::kInterrupted:
      case LaunchEnd::kControllerLost:
      case LaunchEnd::kLaunchFailed:
      case LaunchEnd::kNodeFailed: return terminate_after(milliseconds(0), graces_.stopped);
    }
  }

  // What the launcher told this supervisor needs no telling it.
  bool is_own(LaunchEnd why) const {
    const bool told = why == LaunchEnd::kInterrupted || why == LaunchEnd::kControllerLost;
    return !told && (why != LaunchEnd::kRankFailed || record_.cause_rank);
  }

  void terminate_after(milliseconds settle, milliseconds grace) {
    escalation_.expires_after(settle);
    escalation_.async_wait([this, grace](error_code error) {
      if (error) return;
      for (protocol::RankExit& rank : record_.ranks)
        if (is_running(rank)) rank.ended_by_supervisor = true;
      signal_groups(SIGTERM);
      escalation_.expires_after(grace);
      escalation_.async_wait([this](error_code late) {
        if (!late) kill_group();
      });
    });
  }

  void kill_group() {
    for (protocol::RankExit& rank : record_.ranks)
      if (is_running(rank)) rank.ended_by_supervisor = true;
    signal_groups(SIGKILL);
    escalation_.expires_after(graces_.killed);
    escalation_.async_wait([this](error_code error) {
      if (!error) context_.stop();  // a rank that SIGKILL cannot end; its exit stays unknown
    });
  }

  // While one rank is not reaped its group's id is ours and cannot be reused.
  void signal_groups(int signal) const {
    std::set<pid_t> running;
    for (std::size_t i = 0; i < groups_.size(); ++i)
      if (is_running(record_.ranks[i])) running.insert(groups_[i]);
    for (pid_t group : running) ::kill(-group, signal);
  }

  void watch_control() {
    control_.assign(::dup(STDIN_FILENO));
    read_control();
  }

  void read_control() {
    control_.async_read_some(asio::buffer(command_), [this](error_code error, std::size_t) {
      if (error == asio::error::operation_aborted) return;
      if (error) return end_attempt(LaunchEnd::kControllerLost, "the controller is gone");
      obey(command_[0]);
      read_control();
    });
  }

  void obey(char command) {
    if (command == kPeerFailed) return end_attempt(LaunchEnd::kRankFailed, "a rank of another node failed");
    if (command == kPeersDone) {
      if (num_running() > 0 && !ending_) record_.cause_rank = first_running();
      return end_attempt(LaunchEnd::kRankFailed, "the ranks of another node had ended well, and those of this one went on");
    }
    end_attempt(LaunchEnd::kInterrupted, "stopped on request");
    if (command == kStopNow) kill_group();
  }

  void watch_signals() {
    signals_.async_wait([this](error_code error, int signal) {
      if (error) return;
      end_attempt(LaunchEnd::kInterrupted, std::string("the supervisor received ") + ::strsignal(signal));  // NOLINT(concurrency-mt-unsafe)
      if (num_running() == 0) return context_.stop();
      watch_signals();
    });
  }

  void leave_nothing_behind() {
    const DescendantsEnded ended = end_descendants(graces_.killed);
    record_.strays_ended = ended.num_killed;
    if (!ended.all_gone)
      record_.message += (record_.message.empty() ? "" : "; ") + std::string("a process of this attempt survived SIGKILL");
  }

  static bool is_running(const protocol::RankExit& rank) { return rank.pid != 0 && rank.end_mono_ns == 0; }
  std::int64_t first_running() const { return std::find_if(record_.ranks.begin(), record_.ranks.end(), is_running)->rank; }
  std::int64_t num_running() const { return std::count_if(record_.ranks.begin(), record_.ranks.end(), is_running); }

  const SuperviseArguments& arguments_;
  const Graces& graces_;
  protocol::Trial trial_;
  RankShare share_;
  protocol::AttemptPaths paths_;
  protocol::LaunchRecord record_;
  asio::io_context context_{1};
  asio::steady_timer deadline_{context_};
  asio::steady_timer stragglers_{context_};
  asio::steady_timer told_{context_};
  std::optional<std::int64_t> told_rank_;    // the first that somebody else told to end
  asio::steady_timer escalation_{context_};  // SIGTERM, then SIGKILL, then giving up
  asio::posix::stream_descriptor control_{context_};
  asio::signal_set signals_{context_, SIGTERM, SIGINT, SIGHUP};
  std::array<char, 1> command_{};
  std::vector<std::unique_ptr<ChildProcess>> children_;
  pid_t group_ = 0;            // the newest
  std::vector<pid_t> groups_;  // of each child
  std::optional<ReservedPort> master_port_;
  MemoryKills memory_kills_;
  bool ending_ = false;
  bool straggling_ = false;
};

}  // namespace

int supervise(const SuperviseArguments& arguments, const Graces& graces) {
  auto share = arguments.master_port ? share_of_step() : RankShare{};
  if (!share) {
    std::cerr << "rematch supervise: " << share.error().message << "\n";
    return 1;
  }
  const protocol::AttemptPaths paths{arguments.attempt_folder};
  const protocol::AttemptPaths own = arguments.master_port ? paths.node(share.value().node) : paths;
  if (arguments.master_port) std::filesystem::create_directories(own.root);
  const auto lock = AttemptLock::try_take(own.root);
  if (!lock) {
    std::cerr << "rematch supervise: " << own.root.string() << " is no folder, or is supervised by another process\n";
    return 1;
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const protocol::LaunchRecord record =
      Supervisor(arguments, graces, protocol::read_trial(paths.trial().string()), std::move(share).value()).run();
  protocol::write_file_unsynced(own.launch(), protocol::to_json(record).dump(2) + "\n");
  return 0;
}

}  // namespace rematch::launch
