// Configurations with what is known of them: what Megatron Core's own class said (megatron-config-cases.jsonl), and which rows hold
// (row-cases.jsonl, written by hand for rows that the class does not enforce or no other case meets).
#pragma once

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "orchestrator/compat/check.h"

namespace rematch::compat {

struct KnownCase {
  nlohmann::json known;
  CheckInput input;
  std::string line;
};

inline std::vector<KnownCase> read_cases(const std::string& name) {
  std::vector<KnownCase> cases;
  std::ifstream file(REMATCH_SOURCE_DIR "/tests/orchestrator/compat/" + name);
  for (std::string line; std::getline(file, line);) {
    auto read = read_check_line(line, std::nullopt);
    if (const auto* problem = std::get_if<LineProblem>(&read)) throw std::runtime_error(problem->message + ": " + line);
    cases.push_back({nlohmann::json::parse(line), std::get<CheckInput>(std::move(read)), line});
  }
  if (cases.empty()) throw std::runtime_error("no cases in " + name);
  return cases;
}

inline std::set<std::string> keys_of(const Judgement& judgement) {
  std::set<std::string> keys;
  for (const Violation& violation : judgement.violations) keys.insert(key_of(violation));
  return keys;
}

// "unlisted:preprocess_sync" and "other:sp_needs_tp" are rows without the prefix.
inline std::string key_of_tag(const std::string& tag) {
  const std::size_t colon = tag.find(':');
  return colon == std::string::npos ? tag : tag.substr(colon + 1);
}

// Empty where the judgement says what Megatron's class said.
inline std::string disagreement_with_class(const KnownCase& row, const Rule* left_out = nullptr) {
  const Judgement judgement = judge(row.input.configuration, Policy::kMegatron, left_out);
  const nlohmann::json found = check_json(1, row.input, judgement, Policy::kMegatron);
  const nlohmann::json& known = row.known;
  if (found["accepted"] != known["accepted"]) return "accepted " + found["accepted"].dump() + " by " + found["rules"].dump();
  if (!known["accepted"].get<bool>()) {
    const std::string key = key_of_tag(known["tag"].get<std::string>());
    return keys_of(judgement).contains(key) ? "" : "no " + key + " in " + found["rules"].dump();
  }
  for (const char* key : {"resolved", "resolved_graph"})
    if (found[key] != known[key]) return std::string(key) + " " + found[key].dump();
  const std::set<std::string> warns = found["warns"];
  return warns == std::set<std::string>(known["warns"]) ? "" : "warns " + found["warns"].dump();
}

// Empty where exactly the rows of `keys` hold.
inline std::string disagreement_with_rows(const KnownCase& row, const Rule* left_out = nullptr) {
  const std::set<std::string> found = keys_of(judge(row.input.configuration, Policy::kOurs, left_out));
  return found == std::set<std::string>(row.known["keys"]) ? "" : "rows " + nlohmann::json(found).dump();
}

}  // namespace rematch::compat
