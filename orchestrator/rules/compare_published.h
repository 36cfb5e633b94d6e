// Rule: a published table against what a study of the same setting came to: of each row the counterpart of exactly what was published, and
// no number where there is none. reports/METRICS.md, "Against published rows", defines each figure. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"
#include "schemas/protocol/published.h"

namespace rematch::rules {

// The lifetime peak of allocated bytes, over the ranks and after the iteration that the row says. "Own" is the study's.
struct ComparedPeak {
  std::int64_t published_bytes = 0;
  std::int64_t resolution_bytes = 1;
  std::optional<std::string> ranks;
  std::optional<std::int64_t> after_iteration;  // from 1
  std::string no_counterpart;                   // why the study has none; empty when it has. The rest is null then.
  std::optional<std::int64_t> own_bytes;
  std::optional<std::int64_t> error_bytes;  // own less published
  std::optional<double> error_fraction;     // of the published
  std::optional<std::int64_t> own_rank;     // that was run and has it
  std::optional<protocol::Phase> binding_phase;
  std::optional<std::int64_t> floor_bytes;           // the largest peak so far in a phase that no label lowers, over the same ranks
  std::optional<std::int64_t> floor_distance_bytes;  // floor less published
  bool censored = false;                             // the own peak sits in such a phase: so may the published one
};

// Of a row's peak to that of another row, both after the same iteration.
struct ComparedDelta {
  std::string against;  // the arm that the source compares with, else the control
  std::optional<std::int64_t> published_bytes;
  std::optional<double> published_fraction;  // as printed, else of the bytes
  std::optional<std::int64_t> own_bytes;
  std::optional<double> own_fraction;
  std::optional<std::int64_t> difference_bytes;  // own less published
  std::optional<std::int64_t> held_bytes;        // own: what is held after the forward of that step, without rounding
};

enum class Agreement { kAgrees, kElsewhere, kDisagrees };
std::string_view to_string(Agreement agreement);  // "agrees", "fails elsewhere", "disagrees"

struct ComparedOutcome {
  protocol::PublishedEnd published = protocol::PublishedEnd::kNotStated;
  std::optional<std::int64_t> published_iterations;  // completed
  std::optional<protocol::Stage> published_stage;
  std::optional<std::int64_t> published_requested_bytes;
  std::string evidence;
  std::string no_counterpart;  // why the study has no outcome
  std::optional<protocol::PublishedEnd> own;
  std::optional<std::int64_t> own_iterations;
  std::optional<base::Failure> own_failure;
  std::optional<Agreement> agreement;
};

struct ComparedRow {
  std::string arm;
  std::string description;
  std::string not_comparable;  // why the row has no numbers; empty when it has
  ComparedOutcome outcome;
  std::optional<ComparedPeak> peak;
  std::optional<ComparedDelta> delta;
};

// One entry a published row, in their order; a row that names no arm has one for each planned arm of the study.
std::vector<ComparedRow> compare_published(const base::StudyRows& study, const protocol::Published& published);

// Why nothing of this row may be set against the arm; empty when it may.
std::string not_comparable_reason(const base::StudyRows& study, const protocol::Published& published, const protocol::PublishedRow& row,
                                  const std::string& arm);
// The arms of the study that a row speaks of.
std::vector<std::string> arms_of_row(const base::StudyRows& study, const protocol::PublishedRow& row);
// The run of an arm that others are set against: the first that counts. nullptr: none.
const base::AttemptRows* compared_attempt(const base::StudyRows& study, const std::string& arm);

}  // namespace rematch::rules
