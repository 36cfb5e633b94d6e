// Rule: between which bytes the memory that an allocator could use must have been, if the peaks of a study explain which published rows
// completed and which ran out of memory. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "schemas/protocol/published.h"

namespace rematch::rules {

// What one published row says of the usable bytes. What a run holds must have been usable; with as much as it reserves nothing fails, since
// an allocator that is short gives cached memory back first. Between the two it depends on the order of requests.
struct UsableRow {
  std::string arm;
  std::string why_not;                         // it says nothing, or not all that it could; empty otherwise
  std::optional<std::int64_t> at_least_bytes;  // largest allocated peak of any rank as far as the row got
  std::string at_least_over;                   // "all steps", "iteration 1", "iterations 1 to 3"
  // Allocated when its request failed, as published, less what the figure was rounded by.
  std::optional<std::int64_t> published_allocated_bytes;
  // Largest reserved peak of any rank up to the end of the iteration in which the row failed; under a limit that made the allocator give
  // memory back, the limit.
  std::optional<std::int64_t> less_than_bytes;
  std::optional<std::int64_t> failing_iteration;
};

// The larger of the two lower bounds; nullopt without one.
std::optional<std::int64_t> lower_bound_bytes(const UsableRow& row);

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
  UsableInterval interval;
  std::vector<UsableRest> rests;               // of an empty interval: every choice of the fewest rows without which the others agree
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
