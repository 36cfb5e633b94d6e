#include "orchestrator/store/values.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "orchestrator/base/run_summary.h"
#include "orchestrator/store/store.h"

namespace rematch::store {

namespace {

template <typename T>
const T& get_as(const Value& value, const char* wanted) {
  const T* held = std::get_if<T>(&value);
  if (held == nullptr)
    throw StoreError(std::string("the database holds something else where ") + wanted + " was wanted; rebuild it with `rematch ingest`");
  return *held;
}

const std::string& text_of(const Value& value) { return get_as<std::string>(value, "text"); }

template <typename Enum>
void from_name(std::optional<Enum> parsed, const Value& value, Enum& member) {
  if (!parsed) throw StoreError("the database holds the unknown name '" + text_of(value) + "'; rebuild it with `rematch ingest`");
  member = *parsed;
}

template <typename Enums>
std::optional<typename Enums::value_type> find_named(const Enums& all, const std::string& name) {
  for (const auto named : all)
    if (protocol::to_string(named) == name) return named;
  return std::nullopt;
}

Value name_value(std::string_view name) { return std::string(name); }

}  // namespace

Value to_value(std::int64_t number) { return number; }
Value to_value(double number) { return number; }
Value to_value(bool flag) { return std::int64_t{flag}; }
Value to_value(const std::string& text) { return text; }
Value to_value(protocol::Stage stage) { return name_value(protocol::to_string(stage)); }
Value to_value(protocol::StageEvent event) { return name_value(event == protocol::StageEvent::kEnter ? "enter" : "leave"); }
Value to_value(protocol::Phase phase) { return name_value(protocol::to_string(phase)); }
Value to_value(protocol::Role role) { return name_value(protocol::to_string(role)); }
Value to_value(protocol::Pass pass) { return name_value(protocol::to_string(pass)); }
Value to_value(protocol::CommOperation operation) { return name_value(protocol::to_string(operation)); }
Value to_value(protocol::FailureKind kind) { return name_value(protocol::to_string(kind)); }
Value to_value(protocol::Provenance provenance) { return name_value(protocol::to_string(provenance)); }
Value to_value(protocol::TrainExit exit_code) { return static_cast<std::int64_t>(exit_code); }
Value to_value(const protocol::RecomputeSpec& recompute) { return protocol::to_json(recompute).dump(); }
Value to_value(const std::vector<std::string>& texts) {
  return nlohmann::json(texts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}
Value to_value(const std::vector<std::int64_t>& numbers) { return nlohmann::json(numbers).dump(); }
Value to_value(const std::map<std::string, std::optional<double>>& numbers) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [name, number] : numbers) object[name] = number ? nlohmann::json(*number) : nlohmann::json(nullptr);
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Value to_value(const std::map<std::string, std::string>& texts) {
  return nlohmann::json(texts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void from_value(const Value& value, std::int64_t& number) { number = get_as<std::int64_t>(value, "an integer"); }
void from_value(const Value& value, double& number) { number = get_as<double>(value, "a number"); }
void from_value(const Value& value, bool& flag) { flag = get_as<std::int64_t>(value, "0 or 1") != 0; }
void from_value(const Value& value, std::string& text) { text = text_of(value); }
void from_value(const Value& value, protocol::Stage& stage) { from_name(protocol::parse_stage(text_of(value)), value, stage); }
void from_value(const Value& value, protocol::StageEvent& event) {
  event = text_of(value) == "enter" ? protocol::StageEvent::kEnter : protocol::StageEvent::kLeave;
}
void from_value(const Value& value, protocol::Phase& phase) { from_name(protocol::parse_phase(text_of(value)), value, phase); }
void from_value(const Value& value, protocol::Role& role) { from_name(protocol::parse_role(text_of(value)), value, role); }
void from_value(const Value& value, protocol::Pass& pass) { from_name(find_named(protocol::kAllPasses, text_of(value)), value, pass); }
void from_value(const Value& value, protocol::CommOperation& operation) {
  from_name(find_named(protocol::kAllCommOperations, text_of(value)), value, operation);
}
void from_value(const Value& value, protocol::FailureKind& kind) { from_name(protocol::parse_failure_kind(text_of(value)), value, kind); }
void from_value(const Value& value, protocol::Provenance& provenance) {
  from_name(protocol::parse_provenance(text_of(value)), value, provenance);
}
void from_value(const Value& value, protocol::TrainExit& exit_code) {
  exit_code = static_cast<protocol::TrainExit>(get_as<std::int64_t>(value, "an exit code"));
}
void from_value(const Value& value, base::Outcome& outcome) { from_name(base::parse_outcome(text_of(value)), value, outcome); }
void from_value(const Value& value, protocol::RecomputeSpec& recompute) {
  recompute = protocol::parse_recompute(nlohmann::json::parse(text_of(value)), "recompute");
}
void from_value(const Value& value, std::vector<std::string>& texts) {
  texts = nlohmann::json::parse(text_of(value)).get<std::vector<std::string>>();
}
void from_value(const Value& value, std::vector<std::int64_t>& numbers) {
  numbers = nlohmann::json::parse(text_of(value)).get<std::vector<std::int64_t>>();
}
void from_value(const Value& value, std::map<std::string, std::optional<double>>& numbers) {
  numbers.clear();
  const auto object = nlohmann::json::parse(text_of(value));
  for (const auto& [name, number] : object.items()) numbers[name] = number.is_null() ? std::nullopt : std::optional(number.get<double>());
}

void from_value(const Value& value, std::map<std::string, std::string>& texts) {
  texts = nlohmann::json::parse(text_of(value)).get<std::map<std::string, std::string>>();
}

}  // namespace rematch::store
