#include "orchestrator/spec/full_fields.h"

#include <algorithm>

#include "orchestrator/spec/candidates.h"
#include "schemas/protocol/recompute_arm.h"

namespace rematch::spec {

namespace {

constexpr const char* kExample = "{recompute_method: uniform, recompute_num_layers: 1}";

const Member* find_set(const Value& map, const std::string& key) {
  const Member* member = find_member(map, key);
  return member == nullptr || member->value.shape == Shape::kNull ? nullptr : member;
}

// Labels have no effect under full, so that any name will do; a rule says so aloud.
void read_idle_modules(ParseState& state, const Value& map, const std::string& path, protocol::RecomputeSpec& recompute) {
  const Member* member = find_set(map, "recompute_modules");
  if (member == nullptr) return;
  const auto& items = member->value.items;
  const bool named = std::all_of(items.begin(), items.end(), [](const Value& item) { return item.shape == Shape::kScalar; });
  if (member->value.shape != Shape::kList || !named)
    return state.refuse(member->value.place, path + ".recompute_modules",
                        "wanted a list of labels; found " + describe_found(member->value));
  recompute.recompute_modules.emplace();
  for (const Value& item : items) recompute.recompute_modules->push_back(item.text);
}

// "uniform:1:distributed" of an option as the map that a file would have. A leading "full:" is that of the arm's name.
Value entry_of_option(const Value& value) {
  std::string text = value.text;
  const std::string prefix = std::string(protocol::kFullRecompute) + ":";
  if (text.rfind(prefix, 0) == 0) text.erase(0, prefix.size());
  Value word = value;
  word.text = text;
  const std::vector<Value> words = option_list(word, ':').items;
  const char* const keys[] = {"recompute_method", "recompute_num_layers", "distribute_saved_activations"};
  if (words.size() < 2 || words.size() > std::size(keys)) return value;
  Value map;
  map.shape = Shape::kMap;
  map.place = value.place;
  for (std::size_t i = 0; i < words.size(); ++i) map.members.push_back({keys[i], value.place, words[i]});
  if (words.size() == std::size(keys)) {
    if (words.back().text != "distributed") return value;
    map.members.back().value.text = "true";
  }
  return map;
}

void read_entry(ParseState& state, const Value& item, const std::string& path) {
  const bool of_option = item.shape == Shape::kScalar && item.place.line == 0;
  const Value entry = of_option ? entry_of_option(item) : item;
  if (entry.shape != Shape::kMap) {
    const std::string in_option = item.place.line == 0 ? ", or uniform:1, block:2, uniform:1:distributed" : "";
    return state.refuse(item.place, path, std::string("wanted ") + kExample + in_option + "; found " + describe_found(item));
  }
  refuse_unknown_members(state, entry, path,
                         {"recompute_method", "recompute_num_layers", "distribute_saved_activations", "recompute_modules"});
  const std::size_t num_problems = state.problems.size();
  Candidate candidate;
  candidate.place = item.place;
  candidate.recompute.recompute_granularity = "full";
  candidate.recompute.core_revision = state.spec.common.recompute.core_revision;
  read_full_fields(state, entry, path, candidate.recompute);
  read_idle_modules(state, entry, path, candidate.recompute);
  if (state.problems.size() == num_problems) add_candidate(state, std::move(candidate), path);
}

}  // namespace

void read_full_fields(ParseState& state, const Value& map, const std::string& path, protocol::RecomputeSpec& recompute) {
  const auto refuse = [&](const Member* member, const std::string& wanted) {
    state.refuse(member->value.place, path + "." + member->key, wanted + "; found " + describe_found(member->value));
  };
  if (const Member* method = find_set(map, "recompute_method")) {
    const std::string name = as_text(method->value).value_or("");
    if (name == "uniform" || name == "block")
      recompute.recompute_method = name;
    else
      refuse(method, "G2: wanted uniform or block");
  }
  if (const Member* num_layers = find_set(map, "recompute_num_layers")) {
    const auto count = as_integer(num_layers->value);
    if (count && *count >= 1)
      recompute.recompute_num_layers = count;
    else
      refuse(num_layers, "R2 (ours): wanted an integer >= 1");
  }
  if (const Member* distribute = find_set(map, "distribute_saved_activations")) {
    const auto flag = as_boolean(distribute->value);
    if (flag)
      recompute.distribute_saved_activations = *flag;
    else
      refuse(distribute, "wanted true or false");
  }
}

void read_full_arms(ParseState& state, const Member* member) {
  const std::string path = "recompute.full";
  if (member == nullptr || member->value.shape == Shape::kNull) return;
  const Value list = option_list(member->value, ',');
  if (list.shape != Shape::kList)
    return state.refuse(list.place, path,
                        std::string("wanted a list of settings, such as [") + kExample + "]; found " + describe_found(list));
  for (std::size_t index = 0; index < list.items.size(); ++index)
    read_entry(state, list.items[index], path + "[" + std::to_string(index) + "]");
  state.note_origin(path, std::to_string(list.items.size()) + " full settings", "default");
}

}  // namespace rematch::spec
