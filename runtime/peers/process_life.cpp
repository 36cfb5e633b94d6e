#include "runtime/peers/process_life.h"

#include <filesystem>
#include <fstream>

namespace rematch::peers {

std::string machine_id() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::error_code error;
  return boot + " " + std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
}

bool process_runs(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return false;
  const auto name_end = text.rfind(')');  // a program's name may hold anything
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return false;
  const char state = text[name_end + 2];
  return state != 'Z' && state != 'X';
}

}  // namespace rematch::peers
