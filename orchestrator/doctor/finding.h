// One line of `rematch doctor`: something of the machine, the workspace or the trainer, what a run wants of it, and what is there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orchestrator/base/warnings.h"

namespace rematch::doctor {

enum class State {
  kOk,
  kWarning,  // a run starts, and something may go wrong or be missing
  kProblem,  // a run would stop
};

struct Finding {
  std::string name;  // one word with underscores: "open_files"
  State state = State::kOk;
  std::string wanted;
  std::string found;
  std::string advice;  // what to do; empty where all is well
};
using Findings = std::vector<Finding>;

const char* to_string(State state);

// The identifier of a finding that is not well, which `explain` has a page of: "doctor-open-files". Of every node the same.
// Throws std::logic_error where the table of warnings has none.
base::WarningId warning_of(const Finding& finding);

// "1.5 GiB", "200 MiB", "12 bytes"
std::string bytes_text(std::int64_t bytes);

}  // namespace rematch::doctor
