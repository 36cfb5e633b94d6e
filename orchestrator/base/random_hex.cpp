#include "orchestrator/base/random_hex.h"

#include <random>

namespace rematch::base {

std::string random_hex(std::size_t num_digits) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::random_device device;
  std::string digits;
  while (digits.size() < num_digits) digits += kDigits[device() % 16];
  return digits;
}

}  // namespace rematch::base
