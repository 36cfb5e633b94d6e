// Commands that a user may type next, of a study and its sweep. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/rows.h"

namespace rematch::rules {

// "rematch run sweeps/first.yaml --set measure.blocks=5": goes on with the study where the settings leave its identity alone.
// `settings`: "key=value" each. Options that the study was given besides its file, such as --set, are not recorded and not in it:
// kWithOptions says so beside it. SWEEP stands for a file that is not recorded either.
inline constexpr const char* kWithOptions = ", with the options that were given besides";
std::string run_command(const base::StudyPlan& plan, const std::vector<std::string>& settings = {});
// The same with these labels beside those that the study has alone already.
std::string measure_labels_command(const base::StudyPlan& plan, const std::vector<std::string>& labels);
// "rematch show moe_act --study 0123456789abcdef": `verb` of the words before --study, such as an arm.
std::string study_command(const std::string& verb, const std::vector<std::string>& subjects, const base::StudyPlan& plan);
// "rematch explain moe_act"
std::string explain_command(const std::string& name);

}  // namespace rematch::rules
