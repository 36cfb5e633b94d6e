// Between the members of our rows and SQLite's values. Enums are stored by name, lists, maps and recompute sections as JSON, nullopt as
// NULL. Failure: StoreError on a value that a member cannot hold (someone else wrote the database).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/store/database.h"
#include "schemas/protocol/rank_record.h"

namespace rematch::base {
enum class Outcome;
}

namespace rematch::store {

Value to_value(std::int64_t number);
Value to_value(double number);
Value to_value(bool flag);
Value to_value(const std::string& text);
Value to_value(protocol::Stage stage);
Value to_value(protocol::StageEvent event);
Value to_value(protocol::Phase phase);
Value to_value(protocol::Role role);
Value to_value(protocol::Pass pass);
Value to_value(protocol::CommOperation operation);
Value to_value(protocol::FailureKind kind);
Value to_value(protocol::Provenance provenance);
Value to_value(protocol::TrainExit exit_code);
Value to_value(const protocol::RecomputeSpec& recompute);
Value to_value(const std::vector<std::string>& texts);
Value to_value(const std::vector<std::int64_t>& numbers);
Value to_value(const std::map<std::string, std::optional<double>>& numbers);
Value to_value(const std::map<std::string, std::string>& texts);
template <typename T>
Value to_value(const std::optional<T>& maybe) {
  return maybe ? to_value(*maybe) : Value{};
}

void from_value(const Value& value, std::int64_t& number);
void from_value(const Value& value, double& number);
void from_value(const Value& value, bool& flag);
void from_value(const Value& value, std::string& text);
void from_value(const Value& value, protocol::Stage& stage);
void from_value(const Value& value, protocol::StageEvent& event);
void from_value(const Value& value, protocol::Phase& phase);
void from_value(const Value& value, protocol::Role& role);
void from_value(const Value& value, protocol::Pass& pass);
void from_value(const Value& value, protocol::CommOperation& operation);
void from_value(const Value& value, protocol::FailureKind& kind);
void from_value(const Value& value, protocol::Provenance& provenance);
void from_value(const Value& value, protocol::TrainExit& exit_code);
void from_value(const Value& value, base::Outcome& outcome);
void from_value(const Value& value, protocol::RecomputeSpec& recompute);
void from_value(const Value& value, std::vector<std::string>& texts);
void from_value(const Value& value, std::vector<std::int64_t>& numbers);
void from_value(const Value& value, std::map<std::string, std::optional<double>>& numbers);
void from_value(const Value& value, std::map<std::string, std::string>& texts);
template <typename T>
void from_value(const Value& value, std::optional<T>& maybe) {
  maybe.reset();
  if (!std::holds_alternative<std::monostate>(value)) from_value(value, maybe.emplace());
}

}  // namespace rematch::store
