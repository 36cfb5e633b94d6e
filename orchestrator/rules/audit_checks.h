// The checks that audit_published is made of, one file each, and what they share. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/rules/audit_published.h"
#include "orchestrator/rules/printed_range.h"
#include "schemas/protocol/published.h"

namespace rematch::rules::audit {

using Findings = std::vector<AuditFinding>;

// audit_deltas.cpp
std::vector<AuditedDelta> audited_deltas(const protocol::Published& published);
Findings delta_findings(const std::vector<AuditedDelta>& deltas);
// "peak_allocated" in bytes or "step_time_ms" in milliseconds; nullopt: the row has none.
std::optional<PrintedRange> figure_range(const protocol::PublishedRow& row, const std::string& of);

// audit_work.cpp
struct WorkAudit {
  std::vector<AuditedWork> rows;
  bool spread_is_least = false;
  Findings findings;
};
WorkAudit audit_work(const protocol::Published& published, const std::optional<WorkByFormula>& formula);

// audit_times.cpp
std::vector<AuditedTime> audited_times(const protocol::Published& published, const WorkAudit& work);
// `times` are audited_times of the same table.
Findings spread_findings(const protocol::Published& published, const WorkAudit& work, const std::vector<AuditedTime>& times);

// audit_units.cpp
Findings byte_unit_findings(const protocol::Published& published);
// What a factor between the work of a row and that of its like stands for, in words; empty: none that a mix-up explains.
std::string unit_mix_up(double factor, std::int64_t world_size);

// audit_rounding.cpp
Findings rounding_findings(const protocol::Published& published);

// audit_control.cpp
Findings control_findings(const protocol::Published& published);
Findings repeat_findings(const protocol::Published& published);

// audit_matching.cpp
Findings matching_findings(const protocol::Published& published);

// audit_floor.cpp
Findings floor_findings(const protocol::Published& published);

// audit_pairs.cpp
// The row that others are set against: the control where it did not fail, else the row that the source compares with or the first that did
// not fail and names its setting. nullptr: none.
const protocol::PublishedRow* reference_row(const protocol::Published& published);
std::vector<AuditedPair> audited_pairs(const protocol::Published& published);

// audit_support.cpp, of all that was found
std::vector<std::string> supports(const PublishedAudit& audit);
std::vector<std::string> leaves_open(const PublishedAudit& audit);

// audit_text.cpp
bool failed(const protocol::PublishedRow& row);
// Others may be set against it: it names its setting, has a figure, and is not said to have failed.
bool may_stand(const protocol::PublishedRow& row);
// The same ranks, after the same iteration. What neither states is no difference: is_view_stated says whether both do.
bool is_same_view(const protocol::PublishedPeak& a, const protocol::PublishedPeak& b);
bool is_view_stated(const protocol::PublishedPeak& peak);
bool is_same_window(const protocol::PublishedMean& a, const protocol::PublishedMean& b);  // of iterations; not stated as for views
std::string bytes_text(double bytes);                                                     // "36.618 GB", "39.0 MB"
std::string fraction_text(double fraction);                                               // "+1.99 %", of the smallest more digits
std::string digits_text(double value, std::int64_t decimal_places);
std::string listed(const std::vector<std::string>& names);  // "a, b and c"

}  // namespace rematch::rules::audit
