#include "orchestrator/slurm/follow.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/launch/process.h"
#include "orchestrator/slurm/launch_problem.h"
#include "orchestrator/slurm/workspace_turn.h"
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

// Of several jobs of one name, which an sbatch sent twice can leave: one that goes on, else the youngest.
bool outranks(const JobRow& a, const JobRow& b) {
  return std::pair(is_active(a.state), a.job_id) > std::pair(is_active(b.state), b.job_id);
}

const JobRow* row_of(const std::vector<JobRow>& rows, const std::string& name, std::optional<std::int64_t> element) {
  const JobRow* best = nullptr;
  for (const JobRow& row : rows)
    if (row.name == name && row.array_task_id == element && (best == nullptr || outranks(row, *best))) best = &row;
  return best;
}

// Of accounting, which has a row an attempt: the last.
const JobRow* last_row_of(const std::vector<JobRow>& rows, const std::string& name, std::optional<std::int64_t> element) {
  const JobRow* last = nullptr;
  for (const JobRow& row : rows)
    if (row.name == name && row.array_task_id == element) last = &row;
  return last;
}

std::string join(const std::vector<std::string>& texts, const std::string& between) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : between) + text;
  return all;
}

}  // namespace

std::string sight_text(const StudySight& sight) {
  std::vector<std::string> jobs;
  for (const auto& [word, num] : sight.num_jobs) jobs.push_back(sight.job.empty() ? std::to_string(num) + " " + word : word);
  std::string text = (sight.job.empty() ? "jobs" : "job " + sight.job) + ": " + (jobs.empty() ? "none" : join(jobs, ", ")) + "; " +
                     std::to_string(sight.num_done) + " of " + std::to_string(sight.num_planned) + " trials done";
  if (sight.in_flight)
    text += "; " + sight.in_flight->arm + ", block " + std::to_string(sight.in_flight->block) + ", slot " +
            std::to_string(sight.in_flight->slot);
  return text;
}

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
  if (!trouble_since_ && !documents_are_unreadable_) watcher_.remarked(std::string(trouble.what()) + "; it is tried again");
  if (!trouble_since_) trouble_since_ = now;
  return until == FollowUntil::kOneLook || now - *trouble_since_ >= kTroubleDeadline;
}

// What was known of them holds while they cannot be read.
void Follower::read_documents(Time now) {
  const auto keep = [&](const std::exception& trouble) {
    if (!documents_are_unreadable_) watcher_.remarked(std::string(trouble.what()) + "; what was known of the jobs holds");
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

void Follower::ask(Time now) {
  std::vector<std::string> names;
  for (const auto& [name, submission] : open_) names.push_back(name);
  policy_.called(now);
  const auto rows = cluster_.queue(names);
  if (!rows) {
    if (!slurm_is_silent_) watcher_.remarked("Slurm does not answer; what it said last holds: " + rows.error().message);
    slurm_is_silent_ = true;
    policy_.asked(now, false);
    return;
  }
  if (slurm_is_silent_) watcher_.remarked("Slurm answers again");
  slurm_is_silent_ = false;
  policy_.asked(now, take_rows(rows.value(), now));
}

std::optional<std::int64_t> Follower::element_of(const Part& part) const {
  if (open_.at(part.submission).shape != protocol::SubmissionShape::kArray) return std::nullopt;
  return part.index;
}

bool Follower::take_rows(const std::vector<JobRow>& rows, Time now) {
  bool has_changed = false;
  std::vector<Part*> missing;
  for (Part& part : parts_) {
    const JobRow* row = row_of(rows, part.submission, element_of(part));
    if (row != nullptr)
      has_changed = see(part, JobSight::kSeen, row, now) || has_changed;
    else if (!part.end_seen && !part.is_settled)
      missing.push_back(&part);
  }
  if (!missing.empty()) ask_history(missing, now);
  return has_changed || !missing.empty();
}

// Of the jobs that the controller has forgotten.
void Follower::ask_history(const std::vector<Part*>& missing, Time now) {
  std::vector<JobRow> past;
  if (cluster_.has_history()) {
    if (!policy_.may_call(now)) return;  // next time
    policy_.called(now);
    std::int64_t first_ns = launch::unix_now_ns();
    std::set<std::string> names;
    for (const Part* part : missing) {
      names.insert(part->submission);
      first_ns = std::min(first_ns, open_.at(part->submission).intent_unix_ns);
    }
    const auto back = std::chrono::minutes((launch::unix_now_ns() - first_ns) / 60'000'000'000 + 60);
    auto rows = cluster_.history({names.begin(), names.end()}, back);
    if (!rows) return;  // next time
    past = std::move(rows).value();
  }
  for (Part* part : missing) {
    const JobRow* row = last_row_of(past, part->submission, element_of(*part));
    const bool has_ended = row != nullptr && !is_active(row->state);
    see(*part, has_ended ? JobSight::kSeen : JobSight::kGone, has_ended ? row : nullptr, now);
  }
}

// True: it stands otherwise than before.
bool Follower::see(Part& part, JobSight job, const JobRow* row, Time now) {
  const bool is_same =
      part.job == job && (row == nullptr || (part.row && part.row->state == row->state && part.row->node_list == row->node_list));
  part.job = job;
  if (row != nullptr) part.row = *row;
  const bool is_over = job == JobSight::kGone || (row != nullptr && !is_active(row->state));
  if (!is_over) {
    part.end_seen.reset();
    part.was_active = true;
  }
  if (is_over && !part.end_seen) part.end_seen = now;
  return !is_same;
}

bool Follower::is_part_done(Part& part, const RunnerRecord* runner, bool is_over) {
  const bool has_ended = runner != nullptr && runner->end.has_value();
  if (part.is_done.value_or(false)) return true;
  if (part.is_done && !has_ended && !is_over) return false;
  bool is_done = trials_.is_done(part.task);
  const bool is_whole_study = !part.task.block && !part.task.trial_id;
  if (is_whole_study && base::awaits_decision(trials_.plan())) is_done = is_done && has_ended && runner->end == RunnerEnd::kComplete;
  part.is_done = is_done;
  return is_done;
}

bool Follower::is_past(const Part& part) const {
  if (submitter_.has_submitted(part.submission)) return false;
  if (const auto cancel = open_.at(part.submission).cancel_unix_ns) return *cancel < begin_unix_ns_;
  return !part.was_active;
}

PartFacts Follower::facts_of(Part& part, Time now) {
  const Submission& submission = open_.at(part.submission);
  const RunnerRecord* runner = runners_.newest(part.scope);
  PartFacts facts;
  facts.runner_is_alive = runners_.is_alive(part.scope, now);
  facts.is_done = is_part_done(part, runner, part.end_seen.has_value());
  if (runner != nullptr && runner->submission == part.submission) {
    facts.runner_end = runner->end;
    facts.runner_message = runner->message;
    facts.has_runner = true;
  }
  facts.study_id = submission.study_id;
  facts.exit_code_before = exit_codes_before_[part.scope];
  facts.is_cancelled = submission.cancel_unix_ns.has_value();
  facts.is_past = is_past(part);
  facts.job = part.job;
  if (part.row) {
    facts.state = part.row->state;
    facts.reason = part.row->reason;
    if (part.end_seen && !part.row->signal) facts.exit_code = part.row->exit_code;
  }
  if (part.end_seen) {
    facts.seconds_since_end = std::chrono::duration<double>(now - *part.end_seen).count();
    facts.has_progressed = !facts.is_done && trials_.has_block_since(part.task, submission.intent_unix_ns);
    if (facts.runner_end == RunnerEnd::kTrialsLeft)
      facts.launch_problem =
          common_launch_problem(trials_.plan(), engine::StudyFolder(store_.paths().root), part.task, submission.intent_unix_ns);
  }
  if (facts.has_progressed) num_retries_[part.scope] = 0;
  facts.num_retries = num_retries_[part.scope];
  return facts;
}

void Follower::act(Part& part, Time now) {
  PartFacts facts = facts_of(part, now);
  Decision decision = decide(facts);
  if (decision.step != Step::kWait && decision.step != Step::kDone) {  // what is not there must not merely be unseen
    const bool is_fresh = look_afresh(part, now);
    facts = facts_of(part, now);
    if (!is_fresh && part.end_seen && facts.seconds_since_end < kStaleFolderSeconds) return;
    decision = decide(facts);
  }
  tell(part, decision);
  switch (decision.step) {
    case Step::kWait: return;
    case Step::kDone: break;
    case Step::kCancelAndSubmitAgain:
    case Step::kSubmitAgain:
      if (decision.step == Step::kCancelAndSubmitAgain && !cancel(part, now)) return;
      if (decision.is_counted) ++num_retries_[part.scope];
      exit_codes_before_[part.scope] = facts.has_runner || facts.state != JobState::kFailed ? std::nullopt : facts.exit_code;
      again_.push_back(part.task);
      part.message = decision.reason;
      break;
    case Step::kCancelAndStop:
    case Step::kStop:
      if (decision.step == Step::kCancelAndStop && !cancel(part, now)) return;
      stops_.push_back({part.scope, decision.stop, decision.reason});
      part.message = decision.reason;
      break;
  }
  part.is_settled = true;
}

bool Follower::cancel(Part& part, Time now) {
  if (!policy_.may_call(now)) return false;  // next time
  policy_.called(now);
  const auto problem = cluster_.cancel_row(*part.row);
  if (!problem) part.end_seen = now;
  if (problem) watcher_.remarked("the job of " + part.scope + " could not be cancelled: " + problem->message);
  return !problem;
}

// What a reader should know: not that a runner works or a job waits for its turn, which sighted() shows.
void Follower::tell(Part& part, const Decision& decision) {
  const bool is_quiet = decision.step == Step::kDone || (decision.step == Step::kWait && decision.id != "held");
  if (is_quiet || part.told == decision.id) return;
  part.told = decision.id;
  const bool submits = decision.step == Step::kSubmitAgain || decision.step == Step::kCancelAndSubmitAgain;
  watcher_.remarked(part.scope + " (job " + part.submission + "): " + decision.reason + (submits ? "; it is submitted again" : ""));
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
      watcher_.remarked("job " + name + " is not needed any more, and could not be cancelled: " + problem->message);
  store_.update(name, [&](Submission& stored) {
    stored.close_unix_ns = launch::unix_now_ns();
    stored.message = join({messages.begin(), messages.end()}, "; ");
  });
  std::erase_if(parts_, [&](const Part& part) { return part.submission == name; });
  open_.erase(name);
}

StudySight Follower::sight() const {
  StudySight sight;
  sight.num_done = trials_.num_done();
  sight.num_planned = trials_.num_planned();
  for (const Part& part : parts_) {
    if (part.is_settled) continue;
    std::string word = "unknown to Slurm";
    if (part.job == JobSight::kUnknown) word = "submitted";
    const RunnerRecord* runner = runners_.newest(part.scope);
    const bool has_started = runner != nullptr && runner->submission == part.submission && !runner->end;
    if (part.job == JobSight::kSeen) word = part.row->state_text;
    if (part.job == JobSight::kSeen && part.row->state == JobState::kPending && !part.row->reason.empty())
      word += " (" + part.row->reason + ")";
    const bool is_behind = part.job == JobSight::kUnknown || (part.job == JobSight::kSeen && part.row->state == JobState::kPending);
    if (has_started && is_behind) word = to_string(JobState::kRunning);
    ++sight.num_jobs[word];
    if (!sight.in_flight && runner != nullptr) sight.in_flight = trials_.in_flight(part.task);
  }
  if (parts_.size() == 1) {
    const Part& only = parts_.front();
    sight.job = std::to_string(open_.at(only.submission).job_id.value_or(0));
    if (only.row && !only.row->node_list.empty()) sight.job += " on " + only.row->node_list;
  }
  return sight;
}

}  // namespace rematch::slurm
