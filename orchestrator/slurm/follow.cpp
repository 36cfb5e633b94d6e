#include "orchestrator/slurm/follow.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/base/warnings.h"
#include "orchestrator/launch/process.h"
#include "orchestrator/slurm/launch_problem.h"
#include "orchestrator/slurm/workspace_turn.h"
#include "orchestrator/spec/nearest.h"
#include "schemas/protocol/document_error.h"

namespace rematch::slurm {

using protocol::RunnerEnd;
using protocol::RunnerRecord;
using protocol::Submission;

namespace {

constexpr std::chrono::milliseconds kCycle{1'000};
constexpr std::chrono::seconds kDocumentsCycle{5};
// Looking takes no larger share of the time than this, however slow the file system is.
constexpr int kLeastPauseOverLook = 10;

}  // namespace

Follower::Follower(const Surroundings& surroundings, Cluster& cluster, Submitter& submitter, SubmissionStore store, DoneTrials& trials,
                   Watcher& watcher, std::filesystem::path workspace)
    : surroundings_(surroundings),
      cluster_(cluster),
      submitter_(submitter),
      store_(std::move(store)),
      trials_(trials),
      watcher_(watcher),
      workspace_(std::move(workspace)),
      runners_(store_.paths().runners()),
      policy_(surroundings.now()),
      begin_unix_ns_(launch::unix_now_ns()) {}

bool Follower::follow(FollowUntil until) {
  trials_.look_at_all();
  documents_due_ = surroundings_.now();
  for (;;) {
    const Time now = surroundings_.now();
    look_duration_ = {};
    try {
      if (cycle(now)) return true;
      trouble_since_.reset();
    } catch (const protocol::DocumentError& trouble) {
      if (is_too_much(trouble, until, now)) throw;
    } catch (const std::system_error& trouble) {
      if (is_too_much(trouble, until, now)) throw;
    }
    if (until == FollowUntil::kOneLook || surroundings_.is_told_to_stop()) return false;
    surroundings_.pause(std::max(kCycle, kLeastPauseOverLook * look_duration_));
    if (surroundings_.is_told_to_stop()) return false;
  }
}

bool Follower::cycle(Time now) {
  if (now >= documents_due_) read_documents(now);
  look_at_files(now);
  look_duration_ = std::chrono::duration_cast<std::chrono::milliseconds>(surroundings_.now() - now);
  if (!open_.empty() && policy_.is_due(now)) ask(now);
  for (Part& part : parts_)
    if (!part.is_settled) act(part, now);
  close_settled();  // first: whoever comes after a death between the two finds nothing open, and submits what is left
  submit_again();
  watcher_.sighted(sight());
  return open_.empty() && again_.empty() && store_.open().empty();
}

bool Follower::is_too_much(const std::exception& trouble, FollowUntil until, Time now) {
  if (!trouble_since_ && !documents_are_unreadable_)
    watcher_.remarked(base::warning_line(base::WarningId::kStudyFilesUnreadable, std::string(trouble.what()) + "; it is tried again"));
  if (!trouble_since_) trouble_since_ = now;
  return until == FollowUntil::kOneLook || now - *trouble_since_ >= kTroubleDeadline;
}

// What was known of them holds while they cannot be read.
void Follower::read_documents(Time now) {
  const auto keep = [&](const std::exception& trouble) {
    if (!documents_are_unreadable_)
      watcher_.remarked(
          base::warning_line(base::WarningId::kStudyFilesUnreadable, std::string(trouble.what()) + "; what was known of the jobs holds"));
    documents_are_unreadable_ = true;
  };
  try {
    take_up_open(now);
    documents_are_unreadable_ = false;
  } catch (const protocol::DocumentError& trouble) {
    keep(trouble);
  } catch (const std::system_error& trouble) {
    keep(trouble);
  }
}

// Documents are read anew now and then: `cancel` writes into them, and another login may submit.
void Follower::take_up_open(Time now) {
  documents_due_ = now + kDocumentsCycle;
  const std::vector<Submission> open = store_.open();
  std::map<std::string, Submission> by_name;
  for (const Submission& submission : open) by_name.emplace(submission.name, submission);
  take_leave_of_closed(by_name);
  open_ = std::move(by_name);
  for (const Submission& submission : open)  // the oldest first
    if (std::none_of(parts_.begin(), parts_.end(), [&](const Part& part) { return part.submission == submission.name; }))
      take_up(submission, now);
}

void Follower::take_up(const Submission& submission, Time now) {
  std::set<std::string> scopes;
  std::int64_t index = 0;
  for (const auto& task : submission.tasks) {
    Part part;
    part.submission = submission.name;
    part.index = index++;
    part.task = task;
    part.scope = protocol::scope_of(task);
    scopes.insert(part.scope);
    parts_.push_back(std::move(part));
  }
  // Of a part that was submitted again while others of its array went on, the later submission counts.
  for (Part& part : parts_)
    if (part.submission != submission.name && scopes.contains(part.scope)) part.is_settled = true;
  policy_.hurry(now);
}

// By another process: `cancel`, or another login, which then goes on with what is left.
void Follower::take_leave_of_closed(const std::map<std::string, Submission>& open) {
  std::map<std::string, Submission> closed;
  for (const Part& part : parts_)
    if (!open.contains(part.submission) && !closed.contains(part.submission)) closed.emplace(part.submission, store_.read(part.submission));
  for (const auto& [name, submission] : closed)
    if (submission.cancel_unix_ns) {
      stops_.push_back({name, StopKind::kInterrupted, "it was cancelled"});
      watcher_.remarked("job " + name + " was cancelled");
    }
  std::erase_if(parts_, [&](const Part& part) { return closed.contains(part.submission); });
}

void Follower::look_at_files(Time now) {
  trials_.read_plan_again();
  look_at_runners(now);
  for (const Part& part : parts_)
    if (!part.is_settled && runners_.newest(part.scope) != nullptr) trials_.look(part.task);
}

void Follower::look_at_runners(Time now) {
  const std::set<std::string> changed = runners_.look(now);
  if (!changed.empty()) policy_.hurry(now);
  for (Part& part : parts_)
    if (changed.contains(part.scope)) {
      trials_.look_again(part.task);
      part.is_done.reset();
    }
}

// False: files may be there that this host does not see yet.
bool Follower::look_afresh(Part& part, Time now) {
  if (fresh_ != now) {
    is_fresh_ = surroundings_.look_afresh(store_.paths().runners());
    look_at_runners(now);
    fresh_ = now;
  }
  const bool is_fresh = trials_.look_again_afresh(part.task, surroundings_.look_afresh);
  part.is_done.reset();
  return is_fresh && is_fresh_;
}

// Another login may have come first.
void Follower::drop_what_is_open() {
  std::set<std::string> scopes;
  for (const Submission& submission : store_.open())
    if (!open_.contains(submission.name))
      for (const auto& task : submission.tasks) scopes.insert(protocol::scope_of(task));
  std::erase_if(again_, [&](const auto& task) { return scopes.contains(protocol::scope_of(task)); });
}

void Follower::submit_again() {
  if (again_.empty()) return;
  const auto turn = take_turn(workspace_, submitter_.study(), surroundings_);
  if (!turn) {
    watcher_.remarked(turn.error().message);
    return;  // next time
  }
  drop_what_is_open();
  documents_due_ = surroundings_.now();
  for (const auto& tasks : submitter_.split(std::exchange(again_, {}))) {
    const SubmitResult result = submitter_.submit(tasks);
    if (result.end == SubmitEnd::kSubmitted) watcher_.submitted(result.submission);
    if (result.end == SubmitEnd::kRefused) stops_.push_back({protocol::scope_of(tasks.front()), StopKind::kEnvironment, result.message});
    if (result.end == SubmitEnd::kUnknown) watcher_.remarked(result.message);
  }
}

void Follower::close_settled() {
  std::set<std::string> names;
  for (const auto& [name, submission] : open_) names.insert(name);
  for (const Part& part : parts_)
    if (!part.is_settled) names.erase(part.submission);
  for (const std::string& name : names) close(name);
}

void Follower::close(const std::string& name) {
  std::set<std::string> messages;
  bool may_run = false;
  for (const Part& part : parts_) {
    if (part.submission != name) continue;
    if (!part.message.empty()) messages.insert(part.message);
    const RunnerRecord* runner = runners_.newest(part.scope);
    const bool has_said_so = runner != nullptr && runner->submission == name && runner->end;
    may_run = may_run || (!part.end_seen && !has_said_so);
  }
  if (may_run)
    if (const auto problem = cluster_.cancel({name}))
      watcher_.remarked(base::warning_line(base::WarningId::kJobNotCancelled,
                                           "job " + name + " is not needed any more, and could not be cancelled: " + problem->message));
  store_.update(name, [&](Submission& stored) {
    stored.close_unix_ns = launch::unix_now_ns();
    stored.message = spec::join({messages.begin(), messages.end()}, "; ");
  });
  std::erase_if(parts_, [&](const Part& part) { return part.submission == name; });
  open_.erase(name);
}

}  // namespace rematch::slurm
