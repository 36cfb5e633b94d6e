#include "orchestrator/spec/parse_state.h"

#include <algorithm>

namespace rematch::spec {

void ParseState::refuse(const Place& place, const std::string& path, const std::string& message) {
  problems.push_back(make_diagnostic(place, path, message));
}

void ParseState::refuse_first(const std::vector<std::string>& keys, const std::string& message) {
  const auto written = std::find_if(keys.begin(), keys.end(), [&](const std::string& key) { return places.contains(key); });
  const std::string& key = written == keys.end() ? *keys.begin() : *written;
  refuse(place_of(key), key, message);
}

bool ParseState::sound(const std::vector<std::string>& keys) const {
  return std::none_of(problems.begin(), problems.end(),
                      [&](const Diagnostic& problem) { return std::find(keys.begin(), keys.end(), problem.path) != keys.end(); });
}

Place ParseState::place_of(const std::string& key) const {
  const auto found = places.find(key);
  if (found != places.end()) return found->second;
  const auto dot = key.rfind('.');
  return dot == std::string::npos ? Place{file_name, 1, 1} : place_of(key.substr(0, dot));
}

void ParseState::note_origin(const std::string& key, const std::string& value, const std::string& otherwise) {
  const auto found = places.find(key);
  spec.origins.push_back({key, value, found == places.end() ? otherwise : to_string(found->second)});
}

const protocol::FamilyDescription* find_family(const protocol::Describe& trainer, const std::string& name) {
  const auto found =
      std::find_if(trainer.families.begin(), trainer.families.end(), [&](const auto& family) { return family.name == name; });
  return found == trainer.families.end() ? nullptr : &*found;
}

const Member* find_member(const Value& map, const std::string& key) {
  const auto found = std::find_if(map.members.begin(), map.members.end(), [&](const Member& member) { return member.key == key; });
  return found == map.members.end() ? nullptr : &*found;
}

}  // namespace rematch::spec
