#include "orchestrator/spec/sweep.h"

#include <algorithm>

#include "orchestrator/spec/checks.h"
#include "orchestrator/spec/document.h"
#include "orchestrator/spec/keys.h"
#include "orchestrator/spec/model_section.h"
#include "orchestrator/spec/nearest.h"
#include "orchestrator/spec/parse_state.h"
#include "orchestrator/spec/recompute_section.h"
#include "orchestrator/spec/simulate_checks.h"

namespace rematch::spec {

namespace {

// The sections and single keys of the table, besides the two that have parsers of their own.
std::vector<std::string> top_level_keys() {
  std::vector<std::string> keys = {"model", "recompute"};
  for (const auto& row : key_rows()) {
    const std::string key = row.key.substr(0, row.key.find('.'));
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
  return keys;
}

std::vector<std::string> keys_of_section(const std::string& section) {
  std::vector<std::string> keys;
  for (const auto& row : key_rows())
    if (row.key.rfind(section + ".", 0) == 0) keys.push_back(row.key.substr(section.size() + 1));
  return keys;
}

void read_key(ParseState& state, const std::string& key, const Member& member) {
  const auto rows = key_rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const KeyRow& candidate) { return candidate.key == key; });
  if (member.value.shape == Shape::kNull && row->derived.set != nullptr) return;
  state.places[key] = member.value.place;
  if (const auto problem = store_value(*row, member.value, state.spec)) state.refuse(member.value.place, key, *problem);
}

void read_section(ParseState& state, const Member& section) {
  const std::vector<std::string> known = keys_of_section(section.key);
  for (const auto& member : section.value.members) {
    const std::string key = section.key + "." + member.key;
    if (std::find(known.begin(), known.end(), member.key) != known.end())
      read_key(state, key, member);
    else
      state.refuse(member.key_place, key, unknown_name_message(member.key, "a key of " + section.key, known));
  }
}

void read_top_level(ParseState& state, const Value& root) {
  const std::vector<std::string> known = top_level_keys();
  for (const auto& member : root.members) {
    if (std::find(known.begin(), known.end(), member.key) == known.end()) {
      state.refuse(member.key_place, member.key, unknown_name_message(member.key, "a section of a sweep", known));
      continue;
    }
    state.places[member.key] = member.key_place;
    const bool is_section = member.key == "model" || member.key == "recompute" || !keys_of_section(member.key).empty();
    if (!is_section)
      read_key(state, member.key, member);
    else if (member.value.shape != Shape::kMap && member.value.shape != Shape::kNull)
      state.refuse(member.value.place, member.key, "wanted a map of keys; found " + describe_found(member.value));
    else if (member.key != "model" && member.key != "recompute")
      read_section(state, member);
  }
}

void derive_defaults(ParseState& state) {
  for (const auto& row : key_rows())
    if (row.derived.set != nullptr && !state.places.contains(row.key)) row.derived.set(state.spec);
}

void finish_table_keys(ParseState& state) {
  for (const auto& row : key_rows()) {
    if (!state.places.contains(row.key) && row.need == Need::kRequired)
      state.refuse(state.place_of(row.key), row.key, "required, and missing; wanted " + wanted_value(row));
    const std::string otherwise = row.derived.rule.empty() ? "default" : "default: " + row.derived.rule;
    state.note_origin(row.key, show_value(row, state.spec), otherwise);
  }
}

Value section_of(const Value& root, const std::string& key) {
  const Member* member = find_member(root, key);
  return member != nullptr && member->value.shape == Shape::kMap ? member->value : Value{};
}

// In the order in which a reader meets them; what came from options last.
void sort_by_place(std::vector<Diagnostic>& diagnostics) {
  std::stable_sort(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& a, const Diagnostic& b) {
    if ((a.line == 0) != (b.line == 0)) return b.line == 0;
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
}

}  // namespace

SweepSpec::SweepSpec() {
  common.training.seed = 1234;
  common.optimizer.lr = 3e-4;
  common.backend.device = "cpu";
  common.backend.attention = "fused";
  common.measure = {.steady_steps = 10, .warmup_steps = 2};
  common.timeout_ms = 10 * std::int64_t{60'000};
}

ParsedSweep parse_sweep(const std::string& text, const std::string& file_name, const protocol::Describe& trainer,
                        const std::vector<Override>& overrides, SweepUse use) {
  Document document = read_document(text, file_name);
  ParseState state{trainer, file_name, use, {}, {}, {}, {}};
  state.spec.path = file_name;
  state.spec.text = text;
  if (!document.root.members.empty()) {
    apply_overrides(document, overrides);
    state.problems = document.problems;
    read_top_level(state, document.root);
    if (use == SweepUse::kSimulate) take_meta_device(state);
    derive_defaults(state);
    finish_table_keys(state);
    read_model(state, section_of(document.root, "model"));
    read_recompute(state, section_of(document.root, "recompute"));
    check_sweep(state);
  } else {
    state.problems = document.problems;
  }
  sort_by_place(state.problems);
  return {std::move(state.spec), std::move(state.problems), std::move(state.warnings)};
}

}  // namespace rematch::spec
