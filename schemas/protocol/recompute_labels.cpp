#include "schemas/protocol/recompute_labels.h"

#include <algorithm>
#include <array>

namespace rematch::protocol {

namespace {

constexpr std::array kRows = {
#define REMATCH_LABEL(label, mechanism, core_revision, discards) LabelRow{#label, Mechanism::mechanism, core_revision, discards},
#include "schemas/protocol/recompute_labels.def"
#undef REMATCH_LABEL
};

constexpr std::size_t kMinPrefixDigits = 7;
constexpr std::size_t kRevisionDigits = 40;

bool is_revision(std::string_view text) {
  return text.size() >= kMinPrefixDigits && text.size() <= kRevisionDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Either may be the longer one: the table holds a short revision, a user may give a shorter one or the full hash.
bool is_prefix_either_way(std::string_view a, std::string_view b) {
  const std::size_t length = std::min(a.size(), b.size());
  return a.substr(0, length) == b.substr(0, length);
}

// The table's spelling of a revision; nullopt when unknown or when it fits several.
std::optional<std::string> resolve_revision(std::string_view core_revision) {
  if (!is_revision(core_revision)) return std::nullopt;
  std::optional<std::string> resolved;
  for (const std::string& known : known_core_revisions()) {
    if (!is_prefix_either_way(known, core_revision)) continue;
    if (resolved) return std::nullopt;
    resolved = known;
  }
  return resolved;
}

}  // namespace

std::span<const LabelRow> label_rows() { return kRows; }

std::vector<std::string> known_core_revisions() {
  std::vector<std::string> revisions;
  for (const LabelRow& row : kRows)
    if (std::find(revisions.begin(), revisions.end(), row.core_revision) == revisions.end()) revisions.emplace_back(row.core_revision);
  return revisions;
}

std::vector<std::string> labels_of_revision(std::string_view core_revision) {
  const std::optional<std::string> revision = resolve_revision(core_revision);
  std::vector<std::string> labels;
  for (const LabelRow& row : kRows)
    if (revision && row.core_revision == *revision) labels.emplace_back(row.label);
  return labels;
}

std::optional<LabelRow> find_label(std::string_view label, std::string_view core_revision) {
  const std::optional<std::string> revision = resolve_revision(core_revision);
  for (const LabelRow& row : kRows)
    if (revision && row.core_revision == *revision && row.label == label) return row;
  return std::nullopt;
}

std::string_view to_string(Mechanism mechanism) {
  switch (mechanism) {
    case Mechanism::kCheckpoint: return "checkpoint";
    case Mechanism::kOutputDiscarding: return "output_discarding";
  }
  return "unknown";
}

std::string arm_name(const std::vector<std::string>& labels) {
  if (labels.empty()) return "[]";
  std::string name;
  for (const std::string& label : labels) name += (name.empty() ? "" : "+") + label;
  return name;
}

}  // namespace rematch::protocol
