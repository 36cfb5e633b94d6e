// What `explain` has pages of, for verbs that name them.
#pragma once

#include <string>
#include <vector>

namespace rematch::cli {

std::vector<std::string> explained_names();

}  // namespace rematch::cli
