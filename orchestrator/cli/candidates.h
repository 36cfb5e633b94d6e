// What can stand at the end of a command line that is still being typed. Reads the workspace, and only to list presets the trainer;
// writes nothing, and what cannot be read has no candidates.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/cli/typed_words.h"
#include "orchestrator/cli/verb.h"

namespace rematch::cli {

enum class Files { kNone, kSweeps, kTables, kFolders, kAny };  // that the shell lists by itself

struct Candidate {
  std::string text;
  std::string description;  // one line; may be empty
};

struct Candidates {
  Files files = Files::kNone;
  std::vector<Candidate> list;
};

// Every one whose beginning is what is typed. At most 1000 trials.
Candidates candidates(const ProgramPage& program, const TypedWords& typed, const GlobalOptions& options);

}  // namespace rematch::cli
