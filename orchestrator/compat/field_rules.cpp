// Fields by themselves: of another type, or not there in this revision. And what no field says.
#include "orchestrator/compat/conditions.h"
#include "orchestrator/compat/rules.h"

namespace rematch::compat {

namespace {

std::string listed(const std::vector<FieldProblem>& problems) {
  std::string text;
  for (const FieldProblem& problem : problems) text += (text.empty() ? "" : "; ") + problem.field + ": " + problem.message;
  return text;
}

}  // namespace

Rules field_rules() {
  return {
      {"field_name", "", Origin::kClass, Effect::kRefuse, "", [](const Subject& s) { return !s.in.not_there.empty(); },
       "a field that the configuration class does not have", kAllRevisions, [](const Subject& s) { return listed(s.in.not_there); }},
      // Python would take some of these and fail later, or mean something else.
      {"field_type", "", Origin::kClass, Effect::kRefuse, "", [](const Subject& s) { return !s.in.mistyped.empty(); },
       "a field of another type than Megatron's: the other rules took its default", kAllRevisions,
       [](const Subject& s) { return listed(s.in.mistyped); }},
      {"Z1", "", Origin::kRunTime, Effect::kRefuse, "backward_by_grad, recompute_granularity, recompute_modules",
       [](const Subject& s) {
         const bool recomputes = is_full(s) || (is_selective(s) && !s.r.modules.empty());
         return s.in.surroundings.backward_by_grad && recomputes;
       },
       "checkpoints work under backward() only, not under grad(): call backward()", kAllRevisions},
  };
}

}  // namespace rematch::compat
