// What went wrong on one rank of an attempt, by its own record, by its exit, or by the word of its peers. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/rows.h"

namespace rematch::collect {

// How likely a rank's fault is the cause of the attempt's end; the first is the likeliest.
enum class Standing {
  kCause,         // it failed by itself, or its peers name it
  kLostPeers,     // it lost its connection, or another rank, before it failed
  kWasToldToEnd,  // by a signal
};

struct Fault {
  const base::RankRows* rank = nullptr;
  Standing standing = Standing::kCause;
  protocol::FailureKind kind = protocol::FailureKind::kBadExit;
  std::int64_t mono_ns = 0;
  std::string message;
};

// What victims say of the rank that failed: the first word of it.
struct Accusation {
  std::int64_t mono_ns = 0;
  std::string message;
};
using Accusations = std::map<std::int64_t, Accusation>;  // by the rank that is named
Accusations accusations(const std::vector<base::RankRows>& ranks);

// nullopt: nothing, or the supervisor ended it and nobody names it.
std::optional<Fault> fault_of(const base::RankRows& rank, const Accusations& accusations);

}  // namespace rematch::collect
