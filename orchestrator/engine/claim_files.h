// The files of claims: their names, and how one is created for the first who asks. Used by Claim alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/protocol/runner_record.h"

namespace rematch::engine {

struct ClaimName {
  std::string scope;
  std::int64_t epoch = 1;
  auto operator<=>(const ClaimName&) const = default;
};

// nullopt: the file is no claim.
std::optional<ClaimName> parse_claim_name(const std::filesystem::path& path);
// In no order; empty where there is no such folder.
std::vector<ClaimName> claims_in(const std::filesystem::path& runners);

// Whole or absent, and by one process only: false when the file is there already. Throws std::system_error.
bool create_exclusively(const std::filesystem::path& path, std::string_view content, const std::string& unique_suffix);

// nullopt: it is gone, or cannot be read at this moment.
std::optional<protocol::RunnerRecord> try_read_claim(const std::filesystem::path& path);

}  // namespace rematch::engine
