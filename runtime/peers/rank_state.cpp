#include "runtime/peers/rank_state.h"

#include <nlohmann/json.hpp>

namespace rematch::peers {

std::string to_text(const RankState& state) {
  return nlohmann::json{{"rank", state.rank},    {"host", state.host},           {"machine", state.machine},
                        {"pid", state.pid},      {"beat", state.beat},           {"num_collectives", state.num_collectives},
                        {"axis", state.axis},    {"operation", state.operation}, {"index", state.index},
                        {"for_ns", state.for_ns}}
      .dump();
}

RankState parse_rank_state(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  return {.rank = json.at("rank"),
          .host = json.at("host"),
          .machine = json.at("machine"),
          .pid = json.at("pid"),
          .beat = json.at("beat"),
          .num_collectives = json.at("num_collectives"),
          .axis = json.at("axis"),
          .operation = json.at("operation"),
          .index = json.at("index"),
          .for_ns = json.at("for_ns")};
}

std::string seconds_text(std::int64_t ns) {
  const std::int64_t tenths = ns / 100'000'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

std::string deed_of(const RankState& state) {
  if (state.axis.empty()) return "computing for " + seconds_text(state.for_ns);
  return "for " + seconds_text(state.for_ns) + " in " + state.operation + " " + std::to_string(state.index) + " over axis " + state.axis;
}

std::string to_text(const PeerFailure& failure) {
  // What an exception says may hold bytes that are no UTF-8.
  return nlohmann::json{{"rank", failure.rank}, {"host", failure.host}, {"reason", failure.reason}, {"reporter", failure.reporter}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

PeerFailure parse_peer_failure(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  return {.rank = json.at("rank"), .host = json.at("host"), .reason = json.at("reason"), .reporter = json.at("reporter")};
}

}  // namespace rematch::peers
