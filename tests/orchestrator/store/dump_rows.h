// Every row of every table of a database as text, ordered: two dumps are equal exactly when the databases hold the same.
#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "orchestrator/store/database.h"

namespace rematch::tests {

struct DumpValue {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return std::to_string(value); }
  std::string operator()(const std::string& text) const { return "'" + text + "'"; }
};

inline std::string dump_rows(const std::filesystem::path& path) {
  store::Database database(path);
  std::string dump;
  for (const store::ValueRow& table : database.query("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")) {
    const std::string name = std::get<std::string>(table.front());
    dump += name + "\n";
    // Tables without rowid come back in the order of their primary key.
    for (const store::ValueRow& row : database.query("SELECT * FROM " + name)) {
      for (const store::Value& value : row) dump += " " + std::visit(DumpValue{}, value);
      dump += "\n";
    }
  }
  return dump;
}

}  // namespace rematch::tests
