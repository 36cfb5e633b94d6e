// The linker's hash of the running program's content (its GNU build-id note): the identity of a trainer build.
// Safe from any thread. Failure: nullopt when the program was linked without --build-id.
#pragma once

#include <optional>
#include <string>

namespace rematch::probes {

std::optional<std::string> program_build_id();  // hex digits, 40 of them with --build-id=sha1

}  // namespace rematch::probes
