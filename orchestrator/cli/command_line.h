// The frame of the command line: global options, the table of verbs, help with examples first, usage errors.
#pragma once

#include "orchestrator/cli/command_pages.h"
#include "orchestrator/cli/verb.h"

namespace rematch::cli {

// Parses, runs the verb, returns its exit code; kUsage with a message on streams.err when the arguments are not understood.
Exit run_command_line(int argc, const char* const* argv, Streams streams);

// Of the words behind the program's name: why they are not understood; nullopt: they are. Carries nothing out.
std::optional<std::string> usage_problem(const std::vector<std::string>& words);

// Every verb and option.
ProgramPage command_pages();

}  // namespace rematch::cli
