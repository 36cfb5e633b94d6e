// Private to this folder: the keys of a recompute section, which stands in trial documents and in hello records.
#pragma once

#include "schemas/protocol/json_fields.h"
#include "schemas/protocol/trial.h"

namespace rematch::protocol {

template <typename Visitor, Is<RecomputeSpec> Spec>
void visit_fields(Visitor& field, Spec& recompute) {
  field("recompute_granularity", recompute.recompute_granularity, one_of({"selective", "full"}));
  field("recompute_modules", recompute.recompute_modules);
  field("recompute_method", recompute.recompute_method, one_of({"uniform", "block"}));
  field("recompute_num_layers", recompute.recompute_num_layers, at_least(1));
  field("distribute_saved_activations", recompute.distribute_saved_activations);
  field("core_revision", recompute.core_revision, not_empty());
}

}  // namespace rematch::protocol
