// Messages for people, on stderr, stamped with host, rank and trial. Set the stamp once at start.
#pragma once

#include <string>

namespace rematch::base {

void set_log_stamp(const std::string& host, int rank, const std::string& trial_id);
void log_line(const std::string& message);

}  // namespace rematch::base
