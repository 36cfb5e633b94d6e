#include "orchestrator/slurm/scratch_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "orchestrator/launch/allocation.h"

namespace rematch::slurm {

namespace {

namespace fs = std::filesystem;

// Where a node keeps what a job needs for itself: variables that came along from the login node may name a place that is not here.
std::vector<fs::path> scratch_places() {
  std::vector<fs::path> places;
  for (const char* name : {"SLURM_TMPDIR", "TMPDIR"})
    if (auto place = launch::environment_text(name)) places.emplace_back(*std::move(place));
  places.emplace_back("/tmp");
  return places;
}

}  // namespace

ScratchFolder::ScratchFolder() {
  int error = 0;
  for (const fs::path& place : scratch_places()) {
    std::string pattern = place / "rematch-runner-XXXXXX";
    if (::mkdtemp(pattern.data()) != nullptr) {
      path_ = pattern;
      return;
    }
    error = errno;
  }
  throw std::system_error(error, std::generic_category(), "make a folder for this runner's database in TMPDIR or /tmp");
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;  // what cannot be removed is left to the node
  fs::remove_all(path_, ignored);
}

}  // namespace rematch::slurm
