// Names that nobody else gives: of runners, jobs and folders. Thread-safe.
#pragma once

#include <cstddef>
#include <string>

namespace rematch::base {

// So many hexadecimal digits in lower case, from the system's source of randomness.
std::string random_hex(std::size_t num_digits);

}  // namespace rematch::base
