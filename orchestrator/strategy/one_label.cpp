// The control and each candidate. With a number of blocks all of it is planned at once and nothing is left to decide; with `blocks: auto`
// looks are taken after 3, 5 and 8 blocks, and an arm whose time and memory have their words, or that failed, gets no more blocks.
#include <algorithm>
#include <string>
#include <vector>

#include "orchestrator/base/number_text.h"
#include "orchestrator/base/study_plan.h"
#include "orchestrator/strategy/strategies.h"
#include "orchestrator/strategy/words.h"

namespace rematch::strategy {

namespace {

using base::ArmRow;
using base::ArmVerdict;

bool is_frozen(const base::StudyPlan& plan, const std::string& arm) {
  return std::any_of(plan.decisions.begin(), plan.decisions.end(), [&](const base::Decision& decision) {
    return decision.action == base::DecisionAction::kFreeze && decision.arm == arm;
  });
}

bool repeats_agree(const ArmVerdict& arm) { return arm.figures->smallest_peak_allocated_bytes == arm.figures->hot.allocated_bytes; }

bool memory_is_decided(const ArmVerdict& arm) {
  if (!arm.effect->memory) return repeats_agree(arm);
  return arm.effect->memory->word != base::MemoryWord::kUndecided;
}

bool time_is_decided(const ArmVerdict& arm) { return arm.effect->time && arm.effect->time->word != base::TimeWord::kUndecided; }

// Empty: it is not decided.
std::string why_decided(const ArmVerdict& arm) {
  if (arm.outcome != base::Outcome::kPass && arm.outcome != base::Outcome::kBorderline) return ending_text(arm, std::nullopt);
  if (arm.outcome == base::Outcome::kBorderline || !arm.effect || !time_is_decided(arm) || !memory_is_decided(arm)) return "";
  const base::TimeVerdict& time = *arm.effect->time;
  return "time is " + std::string(to_string(time.word)) + " (" + base::percent_text(time.fraction) + ", " + base::percent_text(time.low) +
         " to " + base::percent_text(time.high) + " against " + arm.effect->against + "), memory " +
         (arm.effect->memory ? std::string(to_string(arm.effect->memory->word)) : "the same in every run");
}

std::string undecided_text(const ArmVerdict& arm) {
  std::string text = arm.arm;
  if (!arm.effect || !arm.effect->time) return text + " (no interval of its time)";
  const base::TimeVerdict& time = *arm.effect->time;
  text += " (" + base::percent_text(time.low) + " to " + base::percent_text(time.high);
  if (time.blocks_needed) text += ", " + std::to_string(*time.blocks_needed) + " blocks would decide it";
  return text + ")";
}

struct Open {
  std::vector<std::string> arms;       // of any group, not decided
  std::vector<std::string> comparers;  // controls and references, which further blocks need
  std::string undecided;               // the arms, as text
};

Open freeze_decided(const Results& results, Growth& growth) {
  Open open;
  for (const ArmRow& row : results.study.plan.arms) {
    if (row.status != base::ArmStatus::kPlanned || is_frozen(results.study.plan, row.arm)) continue;
    const ArmVerdict& arm = results.of(row.arm);
    if (const std::string why = why_decided(arm); !why.empty()) {
      growth.freeze(row.arm, why);
    } else if (row.is_control || base::is_reference(results.verdict, row.arm)) {
      open.comparers.push_back(row.arm);
    } else {
      open.arms.push_back(row.arm);
      open.undecided += (open.undecided.empty() ? "" : "; ") + undecided_text(arm);
    }
  }
  return open;
}

// Those that the order inside blocks was drawn for.
std::vector<std::string> first_round_arms(const base::StudyPlan& plan, const std::string& group_id) {
  std::vector<std::string> arms;
  for (const protocol::Trial& trial : plan.trials)
    if (trial.group_id == group_id && trial.block == 0 && std::find(arms.begin(), arms.end(), trial.arm) == arms.end())
      arms.push_back(trial.arm);
  return arms;
}

// Each group's open arms with what they are compared with, in the order that was drawn for all of them.
void add_look(const Open& open, std::int64_t next_look, Growth& growth) {
  const base::StudyPlan& plan = growth.plan();
  std::vector<std::string> seen;
  for (const ArmRow& row : plan.arms) {
    if (std::find(seen.begin(), seen.end(), row.group_id) != seen.end()) continue;
    seen.push_back(row.group_id);
    std::vector<std::string> arms;
    const auto append = [&](const std::vector<std::string>& names) {
      for (const std::string& name : names)
        if (plan::arm_named(plan, name).group_id == row.group_id) arms.push_back(name);
    };
    append(open.arms);
    if (arms.empty()) continue;
    append(open.comparers);
    growth.add({row.group_id, arms, first_round_arms(plan, row.group_id), plan.num_blocks, next_look - plan.num_blocks, plan.order_seed});
  }
  growth.set_num_blocks(next_look);
}

}  // namespace

Looked add_blocks_until_decided(const Results& results, Growth& growth) {
  const std::int64_t look = results.study.plan.num_blocks;
  const Open open = freeze_decided(results, growth);
  const std::string after = "after " + std::to_string(look) + " blocks";
  if (open.arms.empty()) return {Step::kAtItsEnd, after + " every arm is decided"};
  const auto next = std::upper_bound(base::kLooks.begin(), base::kLooks.end(), look);
  if (next == base::kLooks.end()) return {Step::kAtItsEnd, after + ", the most that are taken, these are undecided: " + open.undecided};
  growth.remark(base::DecisionAction::kTake,
                std::to_string(*next - look) + " more blocks: " + after + " these are undecided: " + open.undecided);
  add_look(open, *next, growth);
  return {Step::kGrown, ""};
}

void decide_one_label(const Results& results, Growth& growth) {
  const Looked looked = add_blocks_until_decided(results, growth);
  if (looked.step == Step::kAtItsEnd) growth.stop(looked.end_reason);
}

}  // namespace rematch::strategy
