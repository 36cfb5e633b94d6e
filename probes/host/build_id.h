// The linker's hash of the running program's content (its GNU build-id note): the identity of a trainer build.
// Safe from any thread. Failure: nullopt or a throw when the program was linked without --build-id.
#pragma once

#include <optional>
#include <string>

namespace rematch::probes {

std::optional<std::string> program_build_id();  // hex digits, 40 of them with --build-id=sha1

// For a program that cannot do without; throws std::logic_error when it has none.
std::string build_id();

}  // namespace rematch::probes
