// What a rank says of itself to its peers through the store, and how it says that a rank failed. Values and their text form.
// Failure: parse functions throw nlohmann's exceptions on text that is none of ours.
#pragma once

#include <cstdint>
#include <string>

namespace rematch::peers {

struct RankState {
  int rank = 0;
  std::string host;
  std::string machine;  // machine_id() of its process
  std::int64_t pid = 0;
  std::int64_t beat = 0;             // grows while the rank's process runs
  std::int64_t num_collectives = 0;  // begun
  std::string axis;                  // of the collective that the rank is in; empty: it computes
  std::string operation;
  std::int64_t index = 0;   // of that collective among those over its axis, from 1
  std::int64_t for_ns = 0;  // for how long it has been in it, or has computed
};

std::string to_text(const RankState& state);
RankState parse_rank_state(const std::string& text);
// "computing for 3.2 s", "for 3.2 s in all_to_all 17 over axis ep".
std::string deed_of(const RankState& state);
std::string seconds_text(std::int64_t ns);  // "3.2 s"

inline constexpr int kNoRank = -1;

struct PeerFailure {
  int rank = kNoRank;  // that failed; kNoRank: what failed is no rank
  std::string host;    // of that rank; empty: unknown
  std::string reason;
  int reporter = kNoRank;  // the rank that noticed
};

std::string to_text(const PeerFailure& failure);
PeerFailure parse_peer_failure(const std::string& text);

}  // namespace rematch::peers
