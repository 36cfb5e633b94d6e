// What machine this process runs on. Reads /proc and asks the kernel; safe from any thread.
// Failure: a number that the machine does not tell is nullopt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rematch::probes {

struct HostIdentity {
  std::string hostname;
  std::string cpu_model_name;
  std::optional<std::int64_t> num_usable_cores;  // by this process' affinity mask
  std::optional<std::int64_t> total_memory_bytes;
};

HostIdentity host_identity();
// The CPUs that this process may run on, as a list of ranges: "0-3,8". Empty where the kernel does not tell.
std::string cpu_affinity();
std::string host_name();
std::string cpu_model_name();  // "unknown CPU" where the machine does not tell

// The value of the first "key : value" line, as in /proc/cpuinfo; nullopt when no line has the key.
std::optional<std::string> value_of_key(const std::string& text, const std::string& key);

}  // namespace rematch::probes
