#include "orchestrator/rules/match.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "orchestrator/base/hash.h"
#include "orchestrator/rules/judge_runs.h"
#include "orchestrator/rules/match_fields.h"

namespace rematch::rules {

namespace {

using base::AttemptRows;
using base::FieldDifference;
using base::Unmatched;
using Fields = std::map<std::string, std::string>;

constexpr std::size_t kRanksNamed = 4;
constexpr std::size_t kFieldsNamed = 4;

const std::string& value_of(const Fields& fields, const std::string& name) {
  static const std::string none;
  const auto found = fields.find(name);
  return found == fields.end() ? none : found->second;
}

std::set<std::string> names_that_differ(const Fields& own, const Fields& against) {
  std::set<std::string> names;
  for (const auto& [name, value] : own)
    if (value != value_of(against, name)) names.insert(name);
  for (const auto& [name, value] : against)
    if (value != value_of(own, name)) names.insert(name);
  return names;
}

struct RankValues {
  std::int64_t rank = 0;
  std::string own;
  std::string against;
};

std::string values_text(const std::vector<RankValues>& ranks, std::string RankValues::*value) {
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), kRanksNamed); ++i)
    text += (i == 0 ? "rank " : "; rank ") + std::to_string(ranks[i].rank) + ": " + ranks[i].*value;
  if (ranks.size() > kRanksNamed) text += "; " + std::to_string(ranks.size() - kRanksNamed) + " more ranks";
  return text;
}

FieldDifference difference_of(const std::string& field, const std::vector<RankValues>& ranks, std::size_t num_compared) {
  const auto is_alike = [&](const RankValues& r) { return r.own == ranks.front().own && r.against == ranks.front().against; };
  if (ranks.size() == num_compared && std::all_of(ranks.begin(), ranks.end(), is_alike))
    return {field, ranks.front().own, ranks.front().against};
  return {field, values_text(ranks, &RankValues::own), values_text(ranks, &RankValues::against)};
}

std::vector<FieldDifference> differences_of(const RecordedFields& own, const RecordedFields& against) {
  std::map<std::string, FieldDifference> by_name;
  for (const std::string& name : names_that_differ(own.of_attempt, against.of_attempt))
    by_name[name] = {name, value_of(own.of_attempt, name), value_of(against.of_attempt, name)};
  std::map<std::string, std::vector<RankValues>> of_ranks;
  std::size_t num_compared = 0;
  for (const auto& [rank, fields] : own.of_rank) {
    const auto other = against.of_rank.find(rank);
    if (other == against.of_rank.end()) continue;
    ++num_compared;
    for (const std::string& name : names_that_differ(fields, other->second))
      of_ranks[name].push_back({rank, value_of(fields, name), value_of(other->second, name)});
  }
  for (const auto& [name, ranks] : of_ranks) by_name[name] = difference_of(name, ranks, num_compared);
  std::vector<FieldDifference> differences;
  for (auto& [name, difference] : by_name) differences.push_back(std::move(difference));
  return differences;
}

// Which of the recorded fields.
using Wanted = bool (*)(std::string_view field);
bool all_fields(std::string_view /*field*/) { return true; }
bool names_no_place(std::string_view field) { return !names_a_place(field); }

void append(const Fields& fields, Wanted wanted, std::string& text) {
  for (const auto& [name, value] : fields)
    if (wanted(name)) text.append(name).append(1, '\0').append(value).append(1, '\0');
}

// Equal hashes are equal fields.
std::string hash_of(const RecordedFields& fields, Wanted wanted) {
  std::string text;
  append(fields.of_attempt, wanted, text);
  for (const auto& [rank, of_rank] : fields.of_rank) append(of_rank, wanted, text.append(std::to_string(rank)).append(1, '\0'));
  return base::content_hash(text);
}

struct Setting {
  std::size_t attempt = 0;  // index
  std::int64_t block = 0;
  bool allocated = false;  // by Slurm: where it ran is set against its block alone
  std::string hash;        // of what is set against the whole group
  std::string place_hash;  // of an allocated one
  bool all_ranks = false;  // each said its part
};

Setting setting_of(const AttemptRows& attempt, std::size_t index) {
  const auto has_hello = [](const base::RankRows& rank) { return rank.hello.has_value(); };
  const RecordedFields fields = recorded_fields(attempt);
  Setting setting{index, attempt.trial.block, attempt.launch.allocation.has_value(), "", "", false};
  setting.hash = hash_of(fields, setting.allocated ? names_no_place : all_fields);
  if (setting.allocated) setting.place_hash = hash_of(fields, names_a_place);
  setting.all_ranks = std::all_of(attempt.ranks.begin(), attempt.ranks.end(), has_hello);
  return setting;
}

// The attempts that count, controls first.
std::vector<Setting> settings_of_group(const base::StudyRows& study, const std::string& group_id) {
  std::vector<Setting> settings;
  for (const bool wanted_control : {true, false})
    for (const base::ArmRow& arm : study.plan.arms) {
      if (arm.group_id != group_id || arm.is_control != wanted_control) continue;
      for (std::size_t index : judged_attempts(study, arm.arm)) settings.push_back(setting_of(study.attempts[index], index));
    }
  return settings;
}

using Settings = std::vector<Setting>;

// On a tie the first.
const Setting& most_common(const Settings& settings, std::string Setting::*hash) {
  const Setting* best = &settings.front();
  std::int64_t best_count = 0;
  for (const Setting& setting : settings) {
    const auto is_alike = [&](const Setting& other) { return other.*hash == setting.*hash; };
    const std::int64_t count = setting.all_ranks ? std::count_if(settings.begin(), settings.end(), is_alike) : 0;
    if (count <= best_count) continue;
    best = &setting;
    best_count = count;
  }
  return *best;
}

struct Against {
  const Setting& setting;
  Wanted wanted;
};

void add_differences(const base::StudyRows& study, const base::ArmRow& arm, const Setting& setting, const Against& common,
                     std::vector<Unmatched>& unmatched) {
  const AttemptRows& attempt = study.attempts[setting.attempt];
  const AttemptRows& against = study.attempts[common.setting.attempt];
  std::vector<FieldDifference> differences = field_differences(attempt, against, arm.variation);
  std::erase_if(differences, [&](const FieldDifference& difference) { return !common.wanted(difference.field); });
  if (differences.empty()) return;
  unmatched.push_back({attempt.trial.trial_id, attempt.attempt, attempt.trial.arm, against.trial.trial_id, std::move(differences)});
}

// Where the trials of a block ran, against where most of them did.
void add_misplaced(const base::StudyRows& study, const base::ArmRow& arm, const Settings& settings, std::vector<Unmatched>& unmatched) {
  std::map<std::int64_t, Settings> by_block;
  for (const Setting& setting : settings)
    if (setting.allocated) by_block[setting.block].push_back(setting);
  for (const auto& [block, of_block] : by_block) {
    const Setting& common = most_common(of_block, &Setting::place_hash);
    for (const Setting& setting : of_block)
      if (setting.place_hash != common.place_hash) add_differences(study, arm, setting, {common, names_a_place}, unmatched);
  }
}

void add_unmatched_of_group(const base::StudyRows& study, const base::ArmRow& arm, std::vector<Unmatched>& unmatched) {
  const Settings settings = settings_of_group(study, arm.group_id);
  if (settings.empty()) return;
  const Setting& common = most_common(settings, &Setting::hash);
  for (const Setting& setting : settings)
    if (setting.hash != common.hash)
      add_differences(study, arm, setting, {common, setting.allocated && common.allocated ? names_no_place : all_fields}, unmatched);
  add_misplaced(study, arm, settings, unmatched);
}

// The first of the arm's; nullptr: none.
const Unmatched* unmatched_of(const std::vector<Unmatched>& unmatched, const std::string& arm) {
  const auto found = std::find_if(unmatched.begin(), unmatched.end(), [&](const Unmatched& one) { return one.arm == arm; });
  return found == unmatched.end() ? nullptr : &*found;
}

void drop_comparisons(base::ArmVerdict& arm) {
  arm.effect.reset();
  arm.hot_rank_moved.reset();
  arm.moved.reset();
  if (arm.failed_comparison) arm.failed_comparison = base::FailedComparison{};
}

}  // namespace

std::vector<FieldDifference> field_differences(const AttemptRows& attempt, const AttemptRows& against, std::string_view variation) {
  std::vector<FieldDifference> differences = differences_of(recorded_fields(attempt), recorded_fields(against));
  if (variation == "cpu_offloading")
    std::erase_if(differences, [](const FieldDifference& difference) { return difference.field == "features.cpu_offloading"; });
  return differences;
}

std::vector<Unmatched> find_unmatched(const base::StudyRows& study) {
  std::vector<Unmatched> unmatched;
  std::set<std::string> seen;
  for (const base::ArmRow& arm : study.plan.arms)
    if (seen.insert(arm.group_id).second) add_unmatched_of_group(study, arm, unmatched);
  return unmatched;
}

bool is_unmatched(const std::vector<Unmatched>& unmatched, const AttemptRows& attempt) {
  return std::any_of(unmatched.begin(), unmatched.end(),
                     [&](const Unmatched& one) { return one.trial_id == attempt.trial.trial_id && one.attempt == attempt.attempt; });
}

std::string fields_text(const std::vector<FieldDifference>& differences) {
  std::string text;
  for (std::size_t i = 0; i < std::min(differences.size(), kFieldsNamed); ++i) text += (i == 0 ? "" : ", ") + differences[i].field;
  if (differences.size() > kFieldsNamed) text += " and " + std::to_string(differences.size() - kFieldsNamed) + " more";
  return text;
}

void refuse_comparisons(const std::vector<Unmatched>& unmatched, Comparison comparison, base::StudyVerdict& verdict) {
  const bool refuse = comparison == Comparison::kRefuse;
  std::set<std::string> groups;                          // with a run in another setting
  std::map<std::string, const Unmatched*> of_reference;  // by group
  for (const base::ArmVerdict& arm : verdict.arms)
    if (unmatched_of(unmatched, arm.arm) != nullptr) groups.insert(arm.group_id);
  for (base::GroupVerdict& group : verdict.groups) {
    if (refuse && groups.contains(group.group_id)) group.fit.reset();
    if (group.reference_arm) of_reference[group.group_id] = unmatched_of(unmatched, *group.reference_arm);
    if (refuse && of_reference[group.group_id] != nullptr) group.control_pairs.clear();
  }
  for (base::ArmVerdict& arm : verdict.arms) {
    if (refuse && arm.effect && groups.contains(arm.group_id)) arm.effect->time.reset();  // the fit had all runs of the group
    const Unmatched* own = unmatched_of(unmatched, arm.arm);
    const Unmatched* cause = own != nullptr ? own : of_reference[arm.group_id];
    if (cause == nullptr) continue;
    arm.not_comparable = "trial " + cause->trial_id + " of " + cause->arm + " ran in another setting than trial " + cause->against +
                         ": they differ in " + fields_text(cause->differences);
    if (refuse) drop_comparisons(arm);
  }
}

}  // namespace rematch::rules
