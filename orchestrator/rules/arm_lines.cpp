#include <algorithm>
#include <array>
#include <cstdio>

#include "orchestrator/base/number_text.h"
#include "orchestrator/base/predicted.h"
#include "orchestrator/base/shell_text.h"
#include "orchestrator/rules/hot_rank_moved.h"
#include "orchestrator/rules/moved_failure.h"
#include "orchestrator/rules/next_command.h"
#include "orchestrator/rules/verdict_lines.h"
#include "schemas/protocol/recompute_arm.h"

namespace rematch::rules {

namespace {

using base::ArmVerdict;
using base::Outcome;

struct Scene {
  const base::StudyPlan& plan;
  const base::StudyVerdict& verdict;
  const ArmVerdict& arm;

  const base::GroupVerdict* group() const {
    for (const base::GroupVerdict& each : verdict.groups)
      if (each.group_id == arm.group_id) return &each;
    return nullptr;
  }
  const base::ArmRow* row() const { return base::find_arm(plan, arm.arm); }
  bool is_predicted() const { return base::is_predicted(plan); }
};

std::string number(std::int64_t value) { return std::to_string(value); }

std::string percent(double fraction) { return base::percent_text(fraction); }

std::string rate_text(const ArmVerdict& arm) {
  if (!arm.pass_rate) return "";
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), " (95 %% interval of the rate %.0f to %.0f %%)", 100 * arm.pass_rate->low,
                100 * arm.pass_rate->high);
  return text.data();
}

std::string outcome_text(const Scene& scene) {
  const ArmVerdict& arm = scene.arm;
  switch (arm.outcome) {
    case Outcome::kPass:
    case Outcome::kBorderline:
    case Outcome::kFail: {
      std::string text = number(arm.num_passed) + " of " + number(arm.num_judged) + " runs pass" + rate_text(arm);
      if (arm.num_judged < arm.num_planned) text += ", " + number(arm.num_planned - arm.num_judged) + " of its trials are missing";
      return text + (arm.outcome == Outcome::kPass || arm.reason.empty() ? "" : ": " + arm.reason);
    }
    case Outcome::kNotRun:
      return arm.reason.empty() ? "none of its " + number(arm.num_planned) + " trials has an attempt that came to its end" : arm.reason;
    case Outcome::kInactive:
    case Outcome::kInvalid:
    case Outcome::kSkipped:
    case Outcome::kInterrupted:
    case Outcome::kLost: return arm.reason.empty() ? "no reason was given" : arm.reason;
  }
  return "";
}

std::string against_text(const base::Effect& effect) {
  return effect.against + (effect.against_control ? " (the control)" : " (the reference, not a control)");
}

std::string interval_text(const Scene& scene, const base::Effect& effect) {
  const ArmVerdict* against = base::find_arm(scene.verdict, effect.against);
  const std::int64_t own = scene.arm.figures->num_runs;
  const std::int64_t other = against != nullptr && against->figures ? against->figures->num_runs : 0;
  const std::string runs = number(own) + " runs against " + number(other);
  if (effect.memory && effect.memory->low_bytes && effect.memory->high_bytes)
    return "interval of the difference " + base::signed_bytes_text(*effect.memory->low_bytes) + " to " +
           base::signed_bytes_text(*effect.memory->high_bytes) + ", " + runs;
  return own > 1 && other > 1 ? runs + ", repeats agree to the byte" : runs + ", so without an interval";
}

std::string peak_text(const ArmVerdict& arm) {
  const base::RankPeak& hot = arm.figures->hot;
  return "the hot rank, " + number(hot.rank) + ", peaks at " + base::bytes_text(hot.allocated_bytes) +
         (hot.binding_phase ? " in " + std::string(protocol::to_string(*hot.binding_phase)) : "");
}

std::string budget_text(const Scene& scene) {
  if (!scene.plan.budget_per_rank_bytes) return "";
  const std::int64_t margin = *scene.plan.budget_per_rank_bytes - scene.arm.figures->hot.allocated_bytes;
  return "; " + base::bytes_text(margin < 0 ? -margin : margin) + (margin < 0 ? " over" : " below") + " the budget of " +
         base::bytes_text(*scene.plan.budget_per_rank_bytes);
}

VerdictLine effect_line(const Scene& scene, const base::Effect& effect) {
  std::string text = peak_text(scene.arm) + ", " + base::signed_bytes_text(effect.peak_delta_bytes);
  if (effect.peak_delta_fraction) text += " (" + percent(*effect.peak_delta_fraction) + ")";
  text += " against " + against_text(effect) + "; " + interval_text(scene, effect);
  if (effect.activation_delta_bytes) text += "; activation peak " + base::signed_bytes_text(*effect.activation_delta_bytes);
  text += budget_text(scene);
  if (effect.censored) text += "; censored: no label lowers that phase, so the saving is at least this";
  if (scene.arm.hot_rank_moved) text += "; " + hot_rank_moved_note(scene.arm.arm, *scene.arm.hot_rank_moved);
  return {"memory", effect.memory ? std::string(to_string(effect.memory->word)) : "not judged", text};
}

std::optional<VerdictLine> memory_line(const Scene& scene) {
  const ArmVerdict& arm = scene.arm;
  if (!arm.figures) {
    if (!arm.failed_comparison || !arm.failed_comparison->step) return std::nullopt;
    return VerdictLine{
        "memory", "not a pass",
        "after step " + number(*arm.failed_comparison->step) + ", which both completed, its peak was " +
            base::signed_bytes_text(arm.failed_comparison->peak_delta_bytes) +
            (arm.failed_comparison->peak_delta_fraction ? " (" + percent(*arm.failed_comparison->peak_delta_fraction) + ")" : "") +
            " against the control's"};
  }
  if (arm.effect) return effect_line(scene, *arm.effect);
  if (!arm.not_comparable.empty()) return VerdictLine{"memory", "not comparable", peak_text(arm) + "; " + arm.not_comparable};
  const bool is_reference = base::is_reference(scene.verdict, arm.arm);
  return VerdictLine{
      "memory", is_reference ? "reference" : "not judged",
      peak_text(arm) + (is_reference ? "; the others are set against it" : "; there is nothing to set it against") + budget_text(scene)};
}

std::string time_text(const Scene& scene, const base::TimeVerdict& time) {
  std::string text = percent(time.fraction) + ", interval " + percent(time.low) + " to " + percent(time.high) + ", against " +
                     against_text(*scene.arm.effect);
  if (const base::GroupVerdict* group = scene.group(); group != nullptr && group->fit)
    text += "; noise of a run " + percent(group->fit->residual_sd).substr(1);
  text += "; smallest effect " + percent(scene.plan.smallest_effect).substr(1);
  if (time.word != base::TimeWord::kUndecided) return text;
  return text + (time.blocks_needed
                     ? "; " + number(*time.blocks_needed) + " blocks would decide it, there are " + number(scene.plan.num_blocks)
                     : "; at this noise no number of blocks that is worth planning would decide it");
}

std::string no_interval_text(const Scene& scene) {
  const base::GroupVerdict* group = scene.group();
  if (group != nullptr && !group->no_fit.empty()) return group->no_fit;
  return "there are too few runs for an interval";
}

std::optional<VerdictLine> time_line(const Scene& scene) {
  const ArmVerdict& arm = scene.arm;
  if (!arm.figures) return std::nullopt;
  if (scene.is_predicted()) return VerdictLine{"time", "not measured", "a prediction has no times; its estimates decide nothing"};
  if (!arm.figures->median_step_time_ns) return VerdictLine{"time", "not measured", "no step was steady"};
  const std::string own = base::milliseconds_text(*arm.figures->median_step_time_ns) + " a step";
  if (!arm.effect) return VerdictLine{"time", base::is_reference(scene.verdict, arm.arm) ? "reference" : "not judged", own};
  if (arm.effect->time)
    return VerdictLine{"time", std::string(to_string(arm.effect->time->word)), own + ", " + time_text(scene, *arm.effect->time)};
  std::string text = own;
  if (arm.effect->time_delta_fraction) text += ", " + percent(*arm.effect->time_delta_fraction) + " against " + against_text(*arm.effect);
  return VerdictLine{"time", "no interval", text + "; " + no_interval_text(scene)};
}

std::string blocks_setting(std::int64_t blocks) { return "measure.blocks=" + number(blocks); }

VerdictLine next_run(const Scene& scene, const std::vector<std::string>& settings, const std::string& text) {
  return {"next", run_command(scene.plan, settings), text + kWithOptions};
}

VerdictLine next_of_pass(const Scene& scene) {
  const base::StudyPlan& plan = scene.plan;
  const ArmVerdict& arm = scene.arm;
  const auto& time = arm.effect ? arm.effect->time : std::nullopt;
  if (time && time->word == base::TimeWord::kUndecided && time->blocks_needed && *time->blocks_needed > plan.num_blocks)
    return next_run(scene, {blocks_setting(*time->blocks_needed)}, "would decide its time");
  if (arm.effect && !time && !scene.is_predicted())
    return next_run(scene, {blocks_setting(plan.num_blocks + 2)}, "adds the repeats that an interval wants");
  if (arm.effect) return {"next", study_command("compare", {arm.arm, arm.effect->against}, plan), "sets the two side by side"};
  return {"next", base::shell_command({"rematch", "report", plan.study_id}), "has every arm beside this one"};
}

VerdictLine next_of_failure(const Scene& scene) {
  const ArmVerdict& arm = scene.arm;
  if (!arm.failure)
    return {"next", study_command("diagnose", {arm.arm}, scene.plan),
            "looks for a cause; a condition of a pass that was not held says what it wants"};
  if (arm.failure->kind == protocol::FailureKind::kOom)
    return {"next", study_command("diagnose", {arm.arm}, scene.plan), "looks for what would lower what was held there"};
  return {"next", study_command("logs", {arm.arm}, scene.plan), "has what the ranks printed before they ended"};
}

// Why it was not run decides what would run it.
VerdictLine next_of_unrun(const Scene& scene) {
  const base::ArmRow* row = scene.row();
  switch (scene.arm.outcome) {
    case Outcome::kInvalid:
      if (row != nullptr && !row->rule_ids.empty())
        return {"next", explain_command(row->rule_ids.front().substr(0, row->rule_ids.front().find('.'))), "says what the rule asks for"};
      return {"next", explain_command("invalid"), "says what makes a run invalid"};
    case Outcome::kInactive: {
      const std::vector<std::string> keys = row == nullptr ? std::vector<std::string>{} : protocol::counted_keys(row->recompute);
      return {"next", explain_command(keys.empty() ? "inactive" : keys.front()), "says where the label has a region"};
    }
    case Outcome::kSkipped: return next_run(scene, {"strategy.kind=one_label"}, "measures every arm, this one too");
    case Outcome::kPass:
    case Outcome::kFail:
    case Outcome::kBorderline:
    case Outcome::kInterrupted:
    case Outcome::kLost:
    case Outcome::kNotRun: break;
  }
  return next_run(scene, {}, "goes on with the study where it stopped");
}

VerdictLine next_line(const Scene& scene) {
  switch (scene.arm.outcome) {
    case Outcome::kPass: return next_of_pass(scene);
    case Outcome::kFail: return next_of_failure(scene);
    case Outcome::kBorderline:
      return next_run(scene, {blocks_setting(scene.plan.num_blocks + 2)}, "repeats it, so that its pass rate is known better");
    case Outcome::kInactive:
    case Outcome::kInvalid:
    case Outcome::kSkipped:
    case Outcome::kInterrupted:
    case Outcome::kLost:
    case Outcome::kNotRun: return next_of_unrun(scene);
  }
  return next_of_unrun(scene);
}

}  // namespace

std::vector<VerdictLine> arm_lines(const base::StudyPlan& plan, const base::StudyVerdict& verdict, const base::ArmVerdict& arm) {
  const Scene scene{plan, verdict, arm};
  const bool has_ended = arm.outcome == Outcome::kPass || arm.outcome == Outcome::kFail || arm.outcome == Outcome::kBorderline;
  const std::string name(to_string(arm.outcome));
  std::vector<VerdictLine> lines = {{"outcome", has_ended && scene.is_predicted() ? "predicted " + name : name, outcome_text(scene)}};
  if (auto line = memory_line(scene)) lines.push_back(*std::move(line));
  if (auto line = time_line(scene)) lines.push_back(*std::move(line));
  if (arm.moved) lines.push_back({"moved", arm.moved->got_further ? "got further" : "elsewhere", moved_failure_text(*arm.moved)});
  lines.push_back(next_line(scene));
  return lines;
}

}  // namespace rematch::rules
