// One rank's record file -> its rows, with what is wrong with the file. Reading never throws on bad content.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "orchestrator/base/rows.h"

namespace rematch::collect {

// `trial_id` and `rank` are what the record must say of itself.
base::RankRows read_rank_rows(const std::filesystem::path& record_path, const std::string& trial_id, std::int64_t rank);

}  // namespace rematch::collect
