// study.json: a StudyPlan as a document, and back. Written by the engine before the first trial starts, read by ingest.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "orchestrator/base/rows.h"

namespace rematch::base {

// After how many blocks `blocks: auto` looks.
inline constexpr std::array<std::int64_t, 3> kLooks = {3, 5, 8};

inline constexpr const char* kStudySchema = "rematch/study/1";

std::string_view to_string(ArmStatus status);
std::string_view to_string(DecisionAction action);
// The strategy has not come to its end: more trials may follow those that are planned.
bool awaits_decision(const StudyPlan& plan);
nlohmann::json to_json(const StudyPlan& plan);
StudyPlan parse_study_plan(const nlohmann::json& document);  // throws protocol::DocumentError
StudyPlan read_study_plan(const std::string& path);          // the same, naming the file

}  // namespace rematch::base
