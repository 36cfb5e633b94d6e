// What jobs have done and the workspace's database does not know yet: a word beside what verbs print out of the database.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

namespace rematch::cli {

// A line for each study with submissions, or the one of that id alone, of whose trials some are done by their folders and not stored.
// Reads only; a study or database that cannot be read is passed over: the verb itself says so.
void tell_of_uncollected(const std::filesystem::path& workspace, const std::string& study_id, std::ostream& err);

}  // namespace rematch::cli
