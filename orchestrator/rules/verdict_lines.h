// A verdict in words: what was decided of an arm or a run, by which numbers, and what to type next. `show` begins with them. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

struct VerdictLine {
  std::string about;  // outcome | memory | time | failure | next | the id of a condition of a pass: "steady_steps"
  std::string word;   // "pass", "lower", "undecided", "held", "not held", ...; of next the command
  std::string text;   // the numbers that it rests on
};

// Outcome, memory, time and what to do next, of any arm of the verdict, run or not.
std::vector<VerdictLine> arm_lines(const base::StudyPlan& plan, const base::StudyVerdict& verdict, const base::ArmVerdict& arm);

// One line a condition of a pass, and where the run failed. `run` is the attempt's verdict.
std::vector<VerdictLine> run_lines(const base::AttemptRows& attempt, const base::RunVerdict& run);

// Where a run failed, what was asked for and held, and which ranks fell with it. The attempt has a failure.
std::string failure_text(const base::AttemptRows& attempt);

}  // namespace rematch::rules
