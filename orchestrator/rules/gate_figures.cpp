#include "orchestrator/rules/gate_figures.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace rematch::rules {

namespace {

using nlohmann::json;

void take_answer(const base::StudyVerdict& verdict, GateFigures& figures) {
  figures.arm = verdict.answer.arm;
  figures.margin_bytes = verdict.answer.margin_bytes;
  if (!figures.arm) return;
  const base::ArmVerdict* arm = base::find_arm(verdict, *figures.arm);
  if (arm == nullptr || !arm->figures) return;
  figures.peak_allocated_bytes = arm->figures->hot.allocated_bytes;
  figures.peak_reserved_bytes = arm->figures->hot.reserved_bytes;
  figures.activation_peak_bytes = arm->figures->activation_peak_bytes;
  figures.step_time_ns = arm->figures->median_step_time_ns;
}

void take_group(const base::GroupVerdict& group, GateFigures& figures) {
  if (group.fit) {
    figures.drift_flagged = figures.drift_flagged || group.fit->drift_flagged;
    if (group.fit->drift_p_value < figures.drift_p_value.value_or(INFINITY)) {
      figures.drift_per_slot = group.fit->drift_per_slot;
      figures.drift_p_value = group.fit->drift_p_value;
    }
  }
  for (const base::ControlPair& pair : group.control_pairs)
    if (!figures.aa_difference_fraction || std::abs(pair.time_difference_fraction) > std::abs(*figures.aa_difference_fraction))
      figures.aa_difference_fraction = pair.time_difference_fraction;
}

template <typename T>
json value_of(const std::optional<T>& maybe) {
  return maybe ? json(*maybe) : json(nullptr);
}

template <typename T>
void take(const json& document, const char* key, std::optional<T>& maybe) {
  if (const json& value = document.at(key); !value.is_null()) maybe = value.get<T>();
}

}  // namespace

GateFigures gate_figures(const base::StudyVerdict& verdict) {
  GateFigures figures;
  take_answer(verdict, figures);
  for (const base::GroupVerdict& group : verdict.groups) take_group(group, figures);
  for (const base::ArmVerdict& arm : verdict.arms) {
    if (!arm.effect) continue;
    if (arm.effect->time) ++figures.num_timed_arms;
    if (!arm.effect->time || arm.effect->time->word == base::TimeWord::kUndecided) figures.undecided_arms.push_back(arm.arm);
  }
  return figures;
}

std::string gate_figures_text(const GateFigures& figures) {
  return json{{"arm", value_of(figures.arm)},
              {"peak_allocated_bytes", value_of(figures.peak_allocated_bytes)},
              {"peak_reserved_bytes", value_of(figures.peak_reserved_bytes)},
              {"activation_peak_bytes", value_of(figures.activation_peak_bytes)},
              {"step_time_ns", value_of(figures.step_time_ns)},
              {"margin_bytes", value_of(figures.margin_bytes)},
              {"drift_per_slot", value_of(figures.drift_per_slot)},
              {"drift_p_value", value_of(figures.drift_p_value)},
              {"drift_flagged", figures.drift_flagged},
              {"aa_difference_fraction", value_of(figures.aa_difference_fraction)},
              {"num_timed_arms", figures.num_timed_arms},
              {"undecided_arms", figures.undecided_arms}}
      .dump();
}

std::optional<GateFigures> parse_gate_figures(const std::string& text) {
  try {
    const json document = json::parse(text);
    GateFigures figures;
    take(document, "arm", figures.arm);
    take(document, "peak_allocated_bytes", figures.peak_allocated_bytes);
    take(document, "peak_reserved_bytes", figures.peak_reserved_bytes);
    take(document, "activation_peak_bytes", figures.activation_peak_bytes);
    take(document, "step_time_ns", figures.step_time_ns);
    take(document, "margin_bytes", figures.margin_bytes);
    take(document, "drift_per_slot", figures.drift_per_slot);
    take(document, "drift_p_value", figures.drift_p_value);
    figures.drift_flagged = document.at("drift_flagged").get<bool>();
    take(document, "aa_difference_fraction", figures.aa_difference_fraction);
    figures.num_timed_arms = document.at("num_timed_arms").get<std::int64_t>();
    figures.undecided_arms = document.at("undecided_arms").get<std::vector<std::string>>();
    return figures;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace rematch::rules
