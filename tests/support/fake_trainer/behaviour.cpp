#include "tests/support/fake_trainer/behaviour.h"

#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace rematch::tests {

namespace {

using nlohmann::json;

template <typename T>
bool agrees(const json& rule, const char* key, const T& value) {
  return !rule.contains(key) || rule.at(key) == value;
}

bool concerns(const json& rule, const protocol::Trial& trial, std::int64_t rank) {
  return agrees(rule, "arm", trial.arm) && agrees(rule, "rank", rank) && agrees(rule, "block", trial.block) &&
         agrees(rule, "slot", trial.slot);
}

void take_numbers(Behaviour& behaviour, const json& from) {
  behaviour.sleep_us = from.value("sleep_us", behaviour.sleep_us);
  behaviour.step_time_us = from.value("step_time_us", behaviour.step_time_us);
  if (from.contains("peak_bytes") && !from.at("peak_bytes").is_null()) behaviour.peak_bytes = from.at("peak_bytes").get<std::int64_t>();
}

Misdeed misdeed_of(const json& rule) {
  static const std::set<std::string> known = {"hang",   "hang_hard", "exit",    "signal", "flood", "hog",
                                              "daemon", "torn",      "garbage", "oom",    "replay"};
  Misdeed misdeed;
  misdeed.what = rule.at("do").get<std::string>();
  if (!known.contains(misdeed.what)) throw std::runtime_error("REMATCH_FAKE: unknown \"do\": " + misdeed.what);
  if (rule.contains("stage")) {
    misdeed.stage = protocol::parse_stage(rule.at("stage").get<std::string>());
    if (!misdeed.stage) throw std::runtime_error("REMATCH_FAKE: unknown stage in " + rule.dump());
  }
  if (rule.contains("step")) misdeed.step = rule.at("step").get<std::int64_t>();
  if (!misdeed.stage && !misdeed.step) misdeed.stage = protocol::Stage::kSpawned;
  for (const char* key : {"code", "signal", "megabytes"})
    if (rule.contains(key)) misdeed.number = rule.at(key).get<std::int64_t>();
  return misdeed;
}

}  // namespace

Behaviour parse_behaviour(const std::string& text, const protocol::Trial& trial, std::int64_t rank) {
  Behaviour behaviour;
  if (text.empty()) return behaviour;
  const json table = json::parse(text);
  take_numbers(behaviour, table);
  for (const json& rule : table.value("rules", json::array())) {
    if (!concerns(rule, trial, rank)) continue;
    take_numbers(behaviour, rule);
    if (rule.contains("do")) behaviour.misdeeds.push_back(misdeed_of(rule));
  }
  return behaviour;
}

}  // namespace rematch::tests
