#include "orchestrator/spec/recompute_section.h"

#include <algorithm>

#include "orchestrator/spec/candidates.h"
#include "orchestrator/spec/full_fields.h"
#include "orchestrator/spec/nearest.h"
#include "schemas/protocol/recompute_labels.h"

namespace rematch::spec {

namespace {

constexpr const char* kExplicitControl = "write `control: {recompute_granularity: selective, recompute_modules: []}`";

using Labels = std::vector<std::string>;

void read_core_revision(ParseState& state, const Member* member) {
  std::string& revision = state.spec.common.recompute.core_revision;
  revision = kDefaultCoreRevision;
  if (member != nullptr) {
    const std::string written = as_text(member->value).value_or("");
    revision = protocol::resolve_revision(written).value_or(written);
    if (!protocol::resolve_revision(written))
      state.refuse(member->value.place, "recompute.core_revision",
                   unknown_name_message(written, "a Megatron Core revision whose labels are known", protocol::revision_names()));
  }
  state.note_origin("recompute.core_revision", revision, "default");
}

// Reads a list of labels, refusing unknown and repeated ones.
Labels read_labels(ParseState& state, const Value& value, char option_separator, const std::string& path) {
  const std::string& revision = state.spec.common.recompute.core_revision;
  const Labels known = protocol::labels_of_revision(revision);
  const Value list = option_list(value, option_separator);
  Labels labels;
  if (list.shape != Shape::kList) {
    state.refuse(value.place, path, "wanted a list of labels (" + join(known, ", ") + "); found " + describe_found(value));
    return labels;
  }
  for (const Value& item : list.items) {
    const std::string label = as_text(item).value_or("");
    if (item.shape != Shape::kScalar) {
      state.refuse(item.place, path, "wanted a label (" + join(known, ", ") + "); found " + describe_found(item));
    } else if (std::find(known.begin(), known.end(), label) == known.end()) {
      if (!known.empty())
        state.refuse(item.place, path, "L1: " + unknown_name_message(label, "a label of Megatron Core " + revision, known));
    } else if (std::find(labels.begin(), labels.end(), label) != labels.end()) {
      state.refuse(item.place, path, "label '" + label + "' is there twice; keep one of them");
    } else {
      labels.push_back(label);
    }
  }
  return labels;
}

void read_control_modules(ParseState& state, const Value& control) {
  const std::string path = "recompute.control.recompute_modules";
  const bool selective = state.spec.control.recompute_granularity == "selective";
  const Member* modules = find_member(control, "recompute_modules");
  if (modules == nullptr || modules->value.shape == Shape::kNull) {
    if (selective) {
      state.refuse(modules == nullptr ? control.place : modules->value.place, path,
                   "recompute_modules is unset: Megatron Core turns an unset list under selective into [core_attn], which is no control; " +
                       std::string(kExplicitControl));
    }
    return;
  }
  state.places[path] = modules->value.place;
  const Labels labels = read_labels(state, modules->value, ',', path);
  if (!labels.empty())
    state.refuse(modules->value.place, path, "the control must recompute nothing; found [" + join(labels, ", ") + "]; " + kExplicitControl);
  state.spec.control.recompute_modules = labels;
}

void read_granularity(ParseState& state, const Value& control) {
  const std::string path = "recompute.control.recompute_granularity";
  const Member* member = find_member(control, "recompute_granularity");
  if (member == nullptr) return state.refuse(control.place, path, "the control must say its granularity; " + std::string(kExplicitControl));
  state.places[path] = member->value.place;
  if (member->value.shape == Shape::kNull) return;
  const std::string granularity = as_text(member->value).value_or("");
  if (granularity == "selective") state.spec.control.recompute_granularity = granularity;
  if (granularity != "selective")
    state.refuse(member->value.place, path, "wanted selective or null for a control; found " + describe_found(member->value));
}

void read_control(ParseState& state, const Value& section) {
  const std::string path = "recompute.control";
  state.spec.control.core_revision = state.spec.common.recompute.core_revision;
  const Member* member = find_member(section, "control");
  if (member == nullptr || member->value.shape == Shape::kNull) {
    const Place place = member == nullptr ? state.place_of("recompute") : member->value.place;
    return state.refuse(place, path,
                        "no control: every candidate is compared with a run that recomputes nothing, and it must be explicit; " +
                            std::string(kExplicitControl));
  }
  const Value& control = member->value;
  state.spec.control_place = state.places[path] = control.place;
  if (control.shape != Shape::kMap) return state.refuse(control.place, path, "found " + describe_found(control) + "; " + kExplicitControl);
  refuse_unknown_members(
      state, control, path,
      {"recompute_granularity", "recompute_modules", "recompute_method", "recompute_num_layers", "distribute_saved_activations"});
  read_granularity(state, control);
  if (state.sound({"recompute.control.recompute_granularity"})) read_control_modules(state, control);
  read_full_fields(state, control, path, state.spec.control);  // so that the compatibility rules can speak about them
  const auto& resolved = state.spec.control;
  state.note_origin("recompute.control.recompute_granularity", resolved.recompute_granularity.value_or("null"), "default");
  state.note_origin("recompute.control.recompute_modules", resolved.recompute_modules ? "[]" : "null", "default");
}

Candidate selective(const ParseState& state, const Labels& labels, const Place& place) {
  Candidate candidate;
  candidate.recompute.recompute_granularity = "selective";
  candidate.recompute.recompute_modules = labels;
  candidate.recompute.core_revision = state.spec.common.recompute.core_revision;
  candidate.place = place;
  return candidate;
}

void add_applicable(ParseState& state, const Place& place) {
  const auto& model = state.spec.common.model;
  const auto* family = find_family(state.trainer, model.family);
  const bool model_known = std::none_of(state.problems.begin(), state.problems.end(),
                                        [](const Diagnostic& problem) { return problem.path.rfind("model", 0) == 0; });
  if (family == nullptr || !model_known) return;  // the problems of the model are told already
  for (const auto& label : protocol::labels_of_revision(state.spec.common.recompute.core_revision)) {
    if (protocol::count_sites(*family, model.fields, label) == 0) continue;
    Candidate candidate = selective(state, {label}, place);
    candidate.by_applicable = true;
    add_candidate(state, std::move(candidate), "recompute.labels");
  }
}

void read_label_arms(ParseState& state, const Member* member) {
  const std::string path = "recompute.labels";
  const bool applicable = member == nullptr || as_text(member->value) == "applicable";
  if (applicable) {
    add_applicable(state, member == nullptr ? state.place_of("recompute") : member->value.place);
  } else {
    const Value list = option_list(member->value, ',');
    if (list.shape != Shape::kList)
      return state.refuse(list.place, path, "wanted applicable, or a list of labels; found " + describe_found(list));
    const auto labels = read_labels(state, list, ',', path);
    for (const auto& label : labels) {
      const auto item = std::find_if(list.items.begin(), list.items.end(), [&](const Value& value) { return value.text == label; });
      add_candidate(state, selective(state, {label}, item->place), path);
    }
  }
  state.note_origin(path, applicable ? "applicable" : std::to_string(state.spec.candidates.size()) + " labels", "default");
}

void read_set_arms(ParseState& state, const Member* member) {
  const std::string path = "recompute.sets";
  if (member == nullptr || member->value.shape == Shape::kNull) return;
  const Value list = option_list(member->value, ';');
  if (list.shape != Shape::kList)
    return state.refuse(list.place, path, "wanted a list of label lists, such as [[layernorm, moe_act]]; found " + describe_found(list));
  for (std::size_t index = 0; index < list.items.size(); ++index) {
    const Value& item = list.items[index];
    const std::string item_path = path + "[" + std::to_string(index) + "]";
    const std::size_t num_problems = state.problems.size();
    const bool empty = item.text == "[]" || (item.shape == Shape::kList && item.items.empty());
    if (empty) {
      state.refuse(item.place, item_path, "the empty set is the control, which runs in any case; leave it out");
      continue;
    }
    const Labels labels = read_labels(state, item, '+', item_path);
    if (state.problems.size() == num_problems) add_candidate(state, selective(state, labels, item.place), item_path);
  }
  state.note_origin(path, std::to_string(list.items.size()) + " sets", "default");
}

}  // namespace

void read_recompute(ParseState& state, const Value& section) {
  for (const auto& member : section.members) state.places["recompute." + member.key] = member.value.place;
  refuse_unknown_members(state, section, "recompute", {"control", "labels", "sets", "full", "core_revision"});
  read_core_revision(state, find_member(section, "core_revision"));
  read_control(state, section);
  read_label_arms(state, find_member(section, "labels"));
  read_set_arms(state, find_member(section, "sets"));
  read_full_arms(state, find_member(section, "full"));
  const auto is_written = [&](const char* key) {
    const Member* member = find_member(section, key);
    return member != nullptr && member->value.shape != Shape::kNull;
  };
  state.spec.sets_written = is_written("sets");
  state.spec.full_written = is_written("full");
  if (state.spec.candidates.empty() && state.problems.empty())
    state.refuse_first({"recompute.labels", "recompute.sets", "recompute.full"},
                       "no candidate to compare with the control; name labels, sets or full settings");
}

}  // namespace rematch::spec
