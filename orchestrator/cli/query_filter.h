// The words that --study, --outcome and --phase of a query may hold. Pure.
#pragma once

#include <optional>
#include <string>

#include "orchestrator/store/query.h"

namespace rematch::cli {

// Why no row can agree with the filter, with the nearest word there is; nullopt: one can. What outcomes there are depends on the question.
std::optional<std::string> problem_of_filter(const std::string& question, const store::QuestionFilter& filter);

}  // namespace rematch::cli
