// The tokens that experts get in a prediction: what the sweep's `simulate` section says, and what the model makes of it where it says
// nothing. Pure.
#pragma once

#include <string>
#include <variant>

#include "orchestrator/spec/sweep.h"
#include "schemas/protocol/prediction.h"

namespace rematch::spec {

struct ResolvedLoad {
  protocol::ExpertLoad load;
  std::string otherwise;  // where the kind comes from when the sweep does not say it: a key of the model, or "default"
};

struct LoadProblem {
  std::string key;  // dotted, of the sweep
  std::string message;
};

// Wants a model whose fields are resolved, and a layout without problems. Of what is wrong, the first thing.
std::variant<ResolvedLoad, LoadProblem> resolve_expert_load(const SweepSpec& spec);

}  // namespace rematch::spec
