// Rules between a model's fields and the degrees of a layout, as the describe document states them: which field must be a multiple of what,
// and which layers an axis does not split. One evaluation for every family. Pure; used by the controller at plan time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schemas/protocol/describe.h"
#include "schemas/protocol/parallel_dims.h"

namespace rematch::protocol {

// An integer option of the parallel section by name; null when there is none of that name. An option that is unset counts as 1.
std::optional<std::int64_t> parallel_option(const ParallelSpec& spec, const std::string& name);

struct FieldProblem {
  std::string field;
  std::vector<std::string> others;  // what the rule names besides: "parallel.<option>" or "model.<field>"
  std::string message;              // both sides with their numbers
};

// Every rule of the family that these resolved fields break; empty when none. A field that is null or not there breaks no rule.
std::vector<FieldProblem> field_problems(const FamilyDescription& family, const FieldMap& fields, const ParallelSpec& spec);

// Kinds of layers that the model has and that this trainer does not split over an axis whose degree is over 1, sorted by option; empty when
// there is none, or the kinds are not known.
struct UnsplitKinds {
  std::string option;  // of the parallel section
  std::int64_t degree = 1;
  std::vector<std::string> kinds;
};
std::vector<UnsplitKinds> unsplit_kinds(const FamilyDescription& family, const FieldMap& fields, const ParallelSpec& spec);

}  // namespace rematch::protocol
