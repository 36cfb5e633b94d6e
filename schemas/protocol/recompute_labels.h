// Lookups over recompute_labels.def, THE table of recompute labels by Megatron Core revision.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rematch::protocol {

enum class Mechanism { kCheckpoint, kOutputDiscarding };

struct LabelRow {
  std::string_view label;
  Mechanism mechanism;
  std::string_view core_revision;
  std::string_view discards;
};

std::span<const LabelRow> label_rows();
std::vector<std::string> known_core_revisions();
std::vector<std::string> labels_of_revision(std::string_view core_revision);
std::optional<LabelRow> find_label(std::string_view label, std::string_view core_revision);
std::string_view to_string(Mechanism mechanism);

// "[]" for the empty set, else the labels joined by '+', in the order given.
std::string arm_name(const std::vector<std::string>& labels);

}  // namespace rematch::protocol
