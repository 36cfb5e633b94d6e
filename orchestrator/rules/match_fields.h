// Rule: the recorded fields that two trials must share to be compared, read field by field from the documents themselves: the trial, the
// launch record, each rank's first line. A field that a document gains is held fixed too, unless the table below names it. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/rows.h"

namespace rematch::rules {

enum class RecordedDocument { kTrial, kLaunch, kHello };

// A field, or an object with all that is in it, that may differ between trials that are compared, and why.
struct FreeField {
  RecordedDocument document;
  std::string_view field;  // as it stands in the document: "prediction.origins"
  std::string_view reason;
};
std::span<const FreeField> free_fields();

// Whether a field names the machines, devices or cores that a trial ran on, and not what they are like. Under Slurm such fields are held
// fixed within a block, whose trials run in one allocation; another block may have got other nodes.
bool names_a_place(std::string_view field);

// Names are "training.seed" of the trial, "launch.host" of the launch record, "hello.host" and "machine.driver_version" of a rank.
// A value is text as it is, anything else as JSON, null as "". Of nodes "launch.nodes" has the names, parted by "; ".
struct RecordedFields {
  std::map<std::string, std::string> of_attempt;
  std::map<std::int64_t, std::map<std::string, std::string>> of_rank;  // of ranks that wrote a first line
};
RecordedFields recorded_fields(const base::AttemptRows& attempt);

// The program's name and its options: it is known by its build, and each trial has a folder of its own.
std::vector<std::string> command_without_folders(std::vector<std::string> command);

}  // namespace rematch::rules
