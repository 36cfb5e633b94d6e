// Verdicts in a database that another build of this program judged. Used by verbs that print stored verdicts.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

namespace rematch::cli {

// Warns of each study, or of the one whose id is not empty, whose verdicts lack columns that this version has, or whose kept report says
// that another build judged. A database that cannot be read is nothing to warn of: whoever reads it says why.
void tell_of_judged_before(const std::filesystem::path& database, const std::string& study_id, std::ostream& err);

}  // namespace rematch::cli
