// Follows what was submitted of a study until all of it has ended: looks at the files of runners and trials about once a second, asks
// Slurm once a cycle for all jobs, decides each part by decide.h, submits again what infrastructure took away, and closes the submission
// documents. Lost contact with Slurm is no failure: the last it said holds; nor is a file that cannot be read for a while. One thread;
// holds no lock but while it submits. Failure: std::system_error or protocol::DocumentError when that lasts for kTroubleDeadline.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "orchestrator/slurm/cluster.h"
#include "orchestrator/slurm/decide.h"
#include "orchestrator/slurm/parts.h"
#include "orchestrator/slurm/poll_policy.h"
#include "orchestrator/slurm/runner_watch.h"
#include "orchestrator/slurm/submission_store.h"
#include "orchestrator/slurm/submit.h"
#include "orchestrator/slurm/surroundings.h"

namespace rematch::slurm {

// How a study stands, for whoever watches.
struct StudySight {
  std::int64_t num_done = 0;                     // trials
  std::int64_t num_planned = 0;                  // trials
  std::map<std::string, std::int64_t> num_jobs;  // by Slurm's word, with its reason where the job waits; "unknown" before it has answered
  std::string job;                               // of a single job: "17 on n[1-2]"; else empty
  std::optional<TrialInFlight> in_flight;        // of one part that runs

  bool operator==(const StudySight&) const = default;
};

// "job 17 on n[1-2]: RUNNING; 3 of 14 trials done; moe_act, block 1, slot 2"
std::string sight_text(const StudySight& sight);

class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void submitted(const protocol::Submission& submission) = 0;
  virtual void sighted(const StudySight& sight) = 0;  // each cycle
  virtual void remarked(const std::string& message) = 0;
};

// A part that is given up.
struct Stop {
  std::string scope;
  StopKind kind = StopKind::kEnvironment;
  std::string reason;
};

enum class FollowUntil { kAllEnded, kOneLook };

inline constexpr std::chrono::minutes kTroubleDeadline{2};

class Follower {
 public:
  // Everything it refers to outlives it.
  Follower(const Surroundings& surroundings, Cluster& cluster, Submitter& submitter, SubmissionStore store, DoneTrials& trials,
           Watcher& watcher, std::filesystem::path workspace);

  // True: nothing is open any more. False: told to stop, or that one look showed something that goes on; the jobs are left alone.
  bool follow(FollowUntil until);
  // Of all calls of follow().
  const std::vector<Stop>& stops() const { return stops_; }

 private:
  using Time = std::chrono::steady_clock::time_point;

  struct Part {
    std::string submission;
    std::int64_t index = 0;  // among the tasks
    protocol::SubmissionTask task;
    std::string scope;
    JobSight job = JobSight::kUnknown;
    std::optional<JobRow> row;
    std::optional<Time> end_seen;
    bool was_active = false;      // as far as Slurm was asked by this object
    std::optional<bool> is_done;  // nullopt: not looked at
    std::string told;             // id of the decision that was remarked last
    bool is_settled = false;
    std::string message;  // why it was given up
  };

  // True: nothing is open any more.
  bool cycle(Time now);
  // Of a cycle: false when it can be tried again.
  bool is_too_much(const std::exception& trouble, FollowUntil until, Time now);
  void read_documents(Time now);
  void take_up_open(Time now);
  void take_up(const protocol::Submission& submission, Time now);
  void take_leave_of_closed(const std::map<std::string, protocol::Submission>& open);
  void look_at_files(Time now);
  void look_at_runners(Time now);
  bool look_afresh(Part& part, Time now);
  void ask(Time now);
  bool take_rows(const std::vector<JobRow>& rows, Time now);
  void ask_history(const std::vector<Part*>& missing, Time now);
  std::optional<std::int64_t> element_of(const Part& part) const;
  bool see(Part& part, JobSight job, const JobRow* row, Time now);
  PartFacts facts_of(Part& part, Time now);
  bool is_past(const Part& part) const;
  bool is_part_done(Part& part, const protocol::RunnerRecord* runner, bool is_over);
  void act(Part& part, Time now);
  bool cancel(Part& part, Time now);
  void tell(Part& part, const Decision& decision);
  void submit_again();
  void close_settled();
  void close(const std::string& name);
  void drop_what_is_open();
  StudySight sight() const;

  const Surroundings& surroundings_;
  Cluster& cluster_;
  Submitter& submitter_;
  SubmissionStore store_;
  DoneTrials& trials_;
  Watcher& watcher_;
  std::filesystem::path workspace_;
  RunnerWatch runners_;
  PollPolicy policy_;
  std::map<std::string, protocol::Submission> open_;                      // by name
  std::vector<Part> parts_;                                               // of the open submissions
  std::vector<protocol::SubmissionTask> again_;                           // to be submitted
  std::map<std::string, std::int64_t> num_retries_;                       // by scope
  std::map<std::string, std::optional<std::int64_t>> exit_codes_before_;  // by scope, see PartFacts
  std::vector<Stop> stops_;
  Time documents_due_{};                       // of the submissions
  std::chrono::milliseconds look_duration_{};  // of the files, in the last cycle
  bool slurm_is_silent_ = false;
  bool documents_are_unreadable_ = false;
  std::optional<Time> trouble_since_;  // of cycles
  std::optional<Time> fresh_;          // when folders of the whole study were looked at afresh
  bool is_fresh_ = false;              // that this could be done
  std::int64_t begin_unix_ns_;         // of this object
};

}  // namespace rematch::slurm
