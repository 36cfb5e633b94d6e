// The published JSON schema and the parser's table of keys say the same: no key in one alone, and the same words allowed.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "orchestrator/spec/keys.h"

namespace rematch::spec {
namespace {

nlohmann::json sweep_schema() {
  std::ifstream file(REMATCH_SOURCE_DIR "/schemas/json/sweep.schema.json");
  return nlohmann::json::parse(file);
}

// Dotted key -> its schema; `model` and `recompute` have parsers of their own.
std::map<std::string, nlohmann::json> keys_of_schema() {
  std::map<std::string, nlohmann::json> keys;
  const nlohmann::json schema = sweep_schema();
  for (const auto& [name, section] : schema.at("properties").items()) {
    if (name == "model" || name == "recompute") continue;
    if (!section.contains("properties")) keys[name] = section;
    const nlohmann::json properties = section.value("properties", nlohmann::json::object());
    for (const auto& [key, content] : properties.items()) keys[name + "." + key] = content;
  }
  return keys;
}

TEST(SweepSchema, HasTheKeysOfTheTableAndNoOthers) {
  std::set<std::string> in_table;
  std::set<std::string> in_schema;
  for (const auto& row : key_rows()) in_table.insert(row.key);
  for (const auto& [key, content] : keys_of_schema()) in_schema.insert(key);
  EXPECT_EQ(in_schema, in_table);
}

TEST(SweepSchema, AllowsTheWordsThatTheTableAllows) {
  const auto keys = keys_of_schema();
  for (const auto& row : key_rows()) {
    if (row.allowed.empty() || row.key == "schema") continue;
    std::vector<std::string> words;
    for (const auto& word : keys.at(row.key).at("enum"))
      if (word.is_string()) words.push_back(word);
    EXPECT_EQ(words, row.allowed) << row.key;
  }
}

TEST(SweepSchema, RequiresTheKeysThatTheTableRequires) {
  const auto schema = sweep_schema();
  for (const auto& row : key_rows()) {
    const auto dot = row.key.find('.');
    const auto& owner = dot == std::string::npos ? schema : schema.at("properties").at(row.key.substr(0, dot));
    const auto required = owner.value("required", std::vector<std::string>{});
    const bool is_required = std::find(required.begin(), required.end(), row.key.substr(dot + 1)) != required.end();
    EXPECT_EQ(is_required, row.need == Need::kRequired) << row.key;
  }
}

}  // namespace
}  // namespace rematch::spec
