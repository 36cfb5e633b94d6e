// What the section parsers of one sweep share: the spec so far, where each key was written, and everything found wrong. Internal to spec.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "orchestrator/spec/sweep.h"
#include "orchestrator/spec/value.h"

namespace rematch::spec {

struct ParseState {
  const protocol::Describe& trainer;
  std::string file_name;
  SweepUse use;
  SweepSpec spec;
  std::vector<Diagnostic> problems;
  std::vector<Warning> warnings;
  std::map<std::string, Place> places;  // dotted key -> where its value was written

  void refuse(const Place& place, const std::string& path, const std::string& message);
  // At the first of `keys` that was written, under its name; else at the section of the first, else at the top of the file.
  void refuse_first(const std::vector<std::string>& keys, const std::string& message);
  // None of these keys has a problem: what follows from them is worth checking.
  bool sound(const std::vector<std::string>& keys) const;
  Place place_of(const std::string& key) const;
  void note_origin(const std::string& key, const std::string& value, const std::string& otherwise);
};

const protocol::FamilyDescription* find_family(const protocol::Describe& trainer, const std::string& name);

// The member of a map, or null. A null section is an empty one.
const Member* find_member(const Value& map, const std::string& key);

}  // namespace rematch::spec
