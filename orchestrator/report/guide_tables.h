// The two tables of guide_report.h. Pure.
#pragma once

#include <optional>
#include <string>

#include "orchestrator/report/arm_groups.h"
#include "orchestrator/report/report_model.h"
#include "orchestrator/rules/guide_figures.h"

namespace rematch::report {

struct GuideContext {
  const base::StudyRows& study;
  const base::StudyVerdict& verdict;
  const ArmGroup& group;
};

Table guide_matched_table(const GuideContext& context);
Table guide_capacity_table(const GuideContext& context);

// Of the capacity table: that which the guide takes of runs of this length. nullopt: too short for either.
std::optional<rules::StepWindow> capacity_window(const base::StudyPlan& plan);
// "iterations 11 to 20".
std::string iterations_text(rules::StepWindow window);

// A heading that says where the figures come from unless they are measured; its key always does.
Column guide_column(const ArmGroup& group, const std::string& key, const std::string& title, Place place = Place::kEverywhere);
// As the guide names an arm: "[]", "mla_up_proj, mlp".
std::string guide_modules(const GuideContext& context, const base::ArmVerdict& arm);
// "completed 12 steps", "OOM after iteration 1"; of an arm that was not run its outcome.
std::string guide_result(const GuideContext& context, const base::ArmVerdict& arm);

}  // namespace rematch::report
