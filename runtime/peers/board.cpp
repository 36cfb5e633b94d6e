#include "runtime/peers/board.h"

#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <utility>

namespace rematch::peers {

namespace {

constexpr const char* kFailed = "peers/failed";
std::string state_key(int rank) { return "peers/state/" + std::to_string(rank); }
std::string left_key(int rank) { return "peers/left/" + std::to_string(rank); }

}  // namespace

Board::Board(c10::intrusive_ptr<c10d::Store> store, int world_size) : store_(std::move(store)), world_size_(world_size) {}

void Board::publish(const RankState& state) { store_->set(state_key(state.rank), to_text(state)); }

std::vector<RankState> Board::states() {
  std::vector<std::string> keys;
  for (int rank = 0; rank < world_size_; ++rank)
    if (store_->check({state_key(rank)})) keys.push_back(state_key(rank));
  std::vector<RankState> states;
  for (const auto& bytes : store_->multiGet(keys)) states.push_back(parse_rank_state({bytes.begin(), bytes.end()}));
  return states;
}

std::optional<PeerFailure> Board::failure() {
  if (!store_->check({kFailed})) return std::nullopt;
  return parse_peer_failure(store_->get_to_str(kFailed));
}

PeerFailure Board::report(const PeerFailure& failure) {
  return parse_peer_failure(store_->compareSet(kFailed, std::string(), to_text(failure)));
}

void Board::leave(int rank) { store_->set(left_key(rank), std::string("left")); }

bool Board::have_left(const std::set<int>& ranks) {
  std::vector<std::string> keys;
  for (const int rank : ranks) keys.push_back(left_key(rank));
  return keys.empty() || store_->check(keys);
}

}  // namespace rematch::peers
