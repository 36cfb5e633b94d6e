#include "runtime/peers/rank_state.h"

#include <nlohmann/json.hpp>

namespace rematch::peers {

std::string to_text(const RankState& state) {
  return nlohmann::json{{"rank", state.rank},     {"host", state.host},          {"machine", state.machine},     {"pid", state.pid},
                        {"beat", state.beat},     {"axis", state.axis},          {"operation", state.operation}, {"peers", state.peers},
                        {"for_ns", state.for_ns}, {"num_begun", state.num_begun}}
      .dump();
}

RankState parse_rank_state(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  return {.rank = json.at("rank"),
          .host = json.at("host"),
          .machine = json.at("machine"),
          .pid = json.at("pid"),
          .beat = json.at("beat"),
          .axis = json.at("axis"),
          .operation = json.at("operation"),
          .peers = json.at("peers").get<std::vector<int>>(),
          .for_ns = json.at("for_ns"),
          .num_begun = json.at("num_begun").get<std::map<std::string, std::int64_t>>()};
}

std::string seconds_text(std::int64_t ns) {
  const std::int64_t tenths = ns / 100'000'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

std::string deed_of(const RankState& state) {
  if (state.axis.empty()) return "has been computing for " + seconds_text(state.for_ns);
  const auto count = state.num_begun.find(state.axis);
  const bool is_collective = state.peers.empty() && count != state.num_begun.end();
  const std::string number = is_collective ? " " + std::to_string(count->second) : "";
  return "has been in " + state.operation + number + " over axis " + state.axis + " for " + seconds_text(state.for_ns);
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
