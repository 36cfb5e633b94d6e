#include "schemas/protocol/recompute_labels.h"

#include <array>

namespace rematch::protocol {

namespace {

constexpr std::array kRows = {
#define REMATCH_LABEL(label, mechanism, core_revisions, discards) LabelRow{#label, Mechanism::mechanism, core_revisions, discards},
#include "schemas/protocol/recompute_labels.def"
#undef REMATCH_LABEL
};

}  // namespace

std::span<const LabelRow> label_rows() { return kRows; }

std::vector<std::string> labels_of_revision(std::string_view core_revision) {
  std::vector<std::string> labels;
  for (const LabelRow& row : kRows)
    if (contains(row.core_revisions, core_revision)) labels.emplace_back(row.label);
  return labels;
}

std::optional<LabelRow> find_label(std::string_view label, std::string_view core_revision) {
  for (const LabelRow& row : kRows)
    if (row.label == label && contains(row.core_revisions, core_revision)) return row;
  return std::nullopt;
}

std::string_view to_string(Mechanism mechanism) {
  switch (mechanism) {
    case Mechanism::kCheckpoint: return "checkpoint";
    case Mechanism::kOutputDiscarding: return "output_discarding";
  }
  return "unknown";
}

}  // namespace rematch::protocol
