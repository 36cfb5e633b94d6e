// Lookups over recompute_labels.def, THE table of recompute labels by Megatron Core revision.
// A revision may have any spelling that resolve_revision takes; one that it does not know has no labels.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/protocol/core_revisions.h"

namespace rematch::protocol {

enum class Mechanism { kCheckpoint, kOutputDiscarding };

struct LabelRow {
  std::string_view label;
  Mechanism mechanism;
  CoreRevisions core_revisions;
  std::string_view discards;
};

std::span<const LabelRow> label_rows();
std::vector<std::string> labels_of_revision(std::string_view core_revision);
std::optional<LabelRow> find_label(std::string_view label, std::string_view core_revision);
std::string_view to_string(Mechanism mechanism);

}  // namespace rematch::protocol
