// The places between two durable writes at which a death of this process must lose nothing: before and after each file, rename, commit and
// start of a process. Called where the write is. Threads: any. It does nothing unless REMATCH_CRASH_AT is set, which tests of crash safety
// do.
#pragma once

#include <string_view>

namespace rematch::protocol {

// The one variable: N >= 1 lets the process end itself by SIGKILL at the N-th boundary that it passes, after one line on stderr that names
// it. Empty, 0 or no number: never.
inline constexpr const char* kCrashVariable = "REMATCH_CRASH_AT";

// `done` says what was just written ("renamed"), `what` says of what ("done.json").
void pass_write_boundary(std::string_view done, std::string_view what);

}  // namespace rematch::protocol
