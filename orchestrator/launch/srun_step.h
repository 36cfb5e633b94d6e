// One job step of the launcher `srun`, from srun's start until the launch record is written. Shared by its handlers and the attempt that it
// belongs to. One thread, the one that runs the io_context.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "orchestrator/launch/attempt_lock.h"
#include "orchestrator/launch/control_channel.h"
#include "orchestrator/launch/launcher.h"
#include "orchestrator/launch/line_stream.h"
#include "orchestrator/launch/merge_parts.h"
#include "orchestrator/launch/node_notice.h"
#include "orchestrator/launch/process.h"
#include "orchestrator/launch/reserved_port.h"

namespace rematch::launch {

class SrunStep : public std::enable_shared_from_this<SrunStep> {
 public:
  SrunStep(boost::asio::io_context& context, const LaunchRequest& request, OnAttemptEnd on_end);
  void start();
  void stop(StopKind kind);
  void give_up();  // ends the step without a word to the caller; the parts stay for whoever looks for them

 private:
  using Milliseconds = std::chrono::milliseconds;
  using Handler = void (SrunStep::*)();

  std::optional<base::Error> prepare();
  base::Result<std::unique_ptr<ChildProcess>> start_srun();
  void watch_srun();
  void hear_notice(const std::string& line);
  void hear_words(const std::string& line);
  void on_start_deadline();
  void on_stragglers();
  void end_others(char command);
  void end_within(Milliseconds limit);
  void terminate_step();
  void kill_srun();
  void finish_when_ended();
  void finish();
  void report(StepParts step);
  void after(boost::asio::steady_timer& timer, Milliseconds delay, Handler handler);

  std::string words() const;
  std::optional<StepProblem> problem_of(const StepParts& step) const;

  boost::asio::io_context& context_;
  LaunchRequest request_;
  OnAttemptEnd on_end_;
  std::int64_t start_unix_ns_ = 0;
  std::optional<AttemptLock> lock_;
  std::optional<ReservedPort> port_;
  std::unique_ptr<ControlChannel> control_;
  LineStream notices_;  // srun's stdout
  LineStream words_;    // srun's stderr
  std::unique_ptr<ChildProcess> srun_;
  boost::asio::steady_timer start_deadline_;
  boost::asio::steady_timer stragglers_;
  boost::asio::steady_timer overdue_;
  boost::asio::steady_timer parts_timer_;
  std::optional<ProcessEnd> srun_end_;
  int num_open_streams_ = 2;
  std::set<std::int64_t> started_;          // nodes
  std::vector<std::int64_t> failed_nodes_;  // in the order of their notices
  std::vector<std::string> last_words_;     // srun's last lines
  std::optional<std::string> node_failure_;
  std::optional<StepProblem> problem_;  // found by the launcher itself
  std::int64_t parts_wanted_until_ns_ = 0;
  bool ending_ = false;
  bool over_ = false;  // reported, or given up
};

}  // namespace rematch::launch
