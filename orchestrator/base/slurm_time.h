// Spans of time as Slurm writes and reads them: limits of jobs, and what is left of them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rematch::base {

// "90" (minutes), "90:00" (minutes:seconds), "1:30:00", "2-12" (days-hours), "2-12:30", "2-12:30:00", as sbatch reads --time.
// null: no such form, or no limit (0, UNLIMITED, INFINITE).
std::optional<std::int64_t> parse_slurm_limit_s(std::string_view text);

// "1-02:03:04", "2:03:04" or "3:04", as squeue writes them: seconds last in each. null: no such form, such as UNLIMITED or INVALID.
std::optional<std::int64_t> parse_slurm_span_s(std::string_view text);

}  // namespace rematch::base
