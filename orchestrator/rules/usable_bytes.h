// Rule: between which bytes the memory that an allocator could use must have been, if the peaks of a study explain which published rows
// completed and which ran out of memory. Of a study without a memory limit, whose peaks are complete. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "schemas/protocol/published.h"

namespace rematch::rules {

// The largest peaks of any rank.
struct NeededBytes {
  std::int64_t allocated = 0;
  std::int64_t reserved = 0;
};

// What one published row says of the usable bytes.
struct UsableRow {
  std::string arm;
  std::string why_not;                   // it says nothing; empty when it says something
  std::optional<NeededBytes> at_least;   // to get as far as the row got
  std::string at_least_over;             // "all steps", "iteration 1", "iterations 1 to 3"
  std::optional<NeededBytes> less_than;  // to fail where it failed: the peak of that iteration
  std::optional<std::int64_t> failing_iteration;
};

// What is left when some rows are not asked.
struct UsableRest {
  std::vector<std::string> without;  // arms of those rows
  std::optional<std::int64_t> from_bytes;
  std::optional<std::int64_t> below_bytes;
};

struct UsableInterval {
  std::optional<std::int64_t> from_bytes;
  std::string from_arm;
  std::optional<std::int64_t> below_bytes;
  std::string below_arm;
  bool is_empty = false;                   // no capacity explains all rows
  std::vector<std::string> contradicting;  // then: arms whose floor is not below another's ceiling, and those others
};

struct UsableBytes {
  std::vector<UsableRow> rows;  // as compare_published has them
  UsableInterval allocated;
  UsableInterval reserved;
  // Of an empty interval: every choice of the fewest rows without which the others agree.
  std::vector<UsableRest> allocated_rests;
  std::vector<UsableRest> reserved_rests;
  std::optional<std::int64_t> capacity_bytes;  // device memory less what is outside of the allocator, by the study's assumptions
};

UsableBytes usable_bytes(const base::StudyRows& study, const protocol::Published& published);

struct Bounds {
  std::optional<std::int64_t> from_bytes;
  std::optional<std::int64_t> below_bytes;
};
// Whether the capacity is at least `from` and less than `below`; nullopt without a bound or a capacity.
std::optional<bool> is_inside(const Bounds& bounds, const std::optional<std::int64_t>& capacity_bytes);

}  // namespace rematch::rules
