#include "orchestrator/doctor/workspace.h"

#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <system_error>

#include "orchestrator/engine/workspace_lock.h"
#include "orchestrator/launch/attempt_processes.h"
#include "orchestrator/store/inspect.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::doctor {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLittleSpaceBytes = std::int64_t{1} << 30;
constexpr std::int64_t kNoSpaceBytes = std::int64_t{1} << 20;

struct KnownKind {
  std::int64_t magic;
  const char* name;
  bool is_network;
};
constexpr std::array<KnownKind, 19> kKinds = {{{0xEF53, "ext4", false},
                                               {0x58465342, "xfs", false},
                                               {0x9123683E, "btrfs", false},
                                               {0x01021994, "tmpfs", false},
                                               {0x794C7630, "overlay", false},
                                               {0x2FC12FC1, "zfs", false},
                                               {0xF2F52010, "f2fs", false},
                                               {0x858458F6, "ramfs", false},
                                               {0x6969, "nfs", true},
                                               {0x517B, "smb", true},
                                               {0xFE534D42, "smb2", true},
                                               {0xFF534D42, "cifs", true},
                                               {0x0BD00BD0, "lustre", true},
                                               {0x47504653, "gpfs", true},
                                               {0x19830326, "beegfs", true},
                                               {0x00C36400, "ceph", true},
                                               {0x01021997, "9p", true},
                                               {0x5346414F, "afs", true},
                                               {0x65735546, "fuse", true}}};

fs::path nearest_existing(const fs::path& folder) {
  std::error_code none;
  fs::path place = fs::absolute(folder);
  while (!fs::exists(place, none) && place.has_relative_path()) place = place.parent_path();
  return place;
}

Finding folder(const fs::path& workspace) {
  Finding finding{"workspace", State::kOk, "a folder that can be written", workspace.string(), ""};
  const fs::path place = nearest_existing(workspace);
  if (place != fs::absolute(workspace)) finding.found += " is not there yet; it is made in " + place.string();
  if (fs::is_directory(place) && ::access(place.c_str(), W_OK | X_OK) == 0) return finding;
  finding.state = State::kProblem;
  finding.found = place.string() + (fs::is_directory(place) ? ": " + std::generic_category().message(errno) : " is no folder");
  finding.advice = "Choose another with --workspace; `report`, `show` and `status` also work where nothing can be written";
  return finding;
}

Finding file_system(const fs::path& place) {
  Finding finding{"file_system", State::kOk, "a local one, for the database's write-ahead log", "not told", ""};
  const auto kind = file_system_of(place);
  if (!kind) return finding;
  finding.found = kind->name + (kind->is_network ? ", of a network or of another program" : "");
  if (!kind->is_network) return finding;
  finding.state = State::kWarning;
  finding.advice =
      "Run and report on one host only: the database's log is not shared between hosts. A local folder (--workspace) has no such limit";
  return finding;
}

Finding free_space(const fs::path& place) {
  Finding finding{"free_space", State::kOk, bytes_text(kLittleSpaceBytes) + " or more", "not told", ""};
  struct statvfs disk {};
  if (::statvfs(place.c_str(), &disk) != 0) return finding;
  const auto free_bytes = static_cast<std::int64_t>(disk.f_bavail * disk.f_frsize);
  finding.found = bytes_text(free_bytes);
  const bool out_of_files = disk.f_files > 0 && disk.f_favail == 0;
  if (out_of_files) finding.found += ", and no further file";
  if (free_bytes >= kLittleSpaceBytes && !out_of_files) return finding;
  finding.state = free_bytes < kNoSpaceBytes || out_of_files ? State::kProblem : State::kWarning;
  finding.advice = "Free space, or choose another place with --workspace";
  return finding;
}

Finding lock(const std::optional<engine::WorkspaceHolder>& holder) {
  Finding finding{"lock", State::kOk, "no other controller here", "free", ""};
  if (!holder) return finding;
  finding.state = State::kProblem;
  finding.found = "held by " + engine::to_string(*holder);
  finding.advice = "Wait for it, or stop it with SIGINT; `rematch status` says how far it is";
  return finding;
}

Finding database(const fs::path& path) {
  Finding finding{"database", State::kOk, "none, or a sound one of this program's schema", "none yet", ""};
  if (!fs::exists(path)) return finding;
  finding.state = State::kProblem;
  const auto state = store::inspect_database(path);
  if (!state) {
    finding.found = state.error().message;
    finding.advice = "See there; the trial folders hold everything that the database does";
    return finding;
  }
  const store::DatabaseState& known = state.value();
  finding.found = "schema version " + std::to_string(known.version) + " (newest known: " + std::to_string(known.newest_version) + "), ";
  finding.found += known.damage.empty() ? "sound" : "damaged: " + known.damage.front();
  if (!known.damage.empty()) {
    finding.advice = "`rematch ingest --rebuild` puts it aside and makes it anew from the trial folders";
  } else if (known.version > known.newest_version) {
    finding.advice = "Use the newer program, or `rematch ingest --rebuild`";
  } else {
    finding.state = known.version == known.newest_version ? State::kOk : State::kWarning;
    if (finding.state == State::kWarning)
      finding.advice = "It is brought to the newest schema when it is next opened, after a copy beside it";
  }
  return finding;
}

// With a controller here they are its own.
Finding leftovers(const protocol::WorkspacePaths& workspace, bool is_in_use) {
  Finding finding{"leftovers", State::kOk, is_in_use ? "those of the running trial" : "none left of an earlier run", "none", ""};
  const auto found = launch::attempt_processes(workspace.studies());
  if (found.empty()) return finding;
  finding.found.clear();
  for (const launch::AttemptProcess& process : found)
    finding.found += (finding.found.empty() ? "pid " : "; pid ") + std::to_string(process.pid) + " (" + process.command + ")";
  if (is_in_use) return finding;
  finding.state = State::kWarning;
  finding.advice =
      "The next `rematch run` of their study ends them; a supervisor that has lost its controller ends by itself within seconds";
  return finding;
}

}  // namespace

FileSystemKind file_system_kind(std::int64_t magic) {
  const auto number = static_cast<std::int64_t>(static_cast<std::uint32_t>(magic));
  for (const KnownKind& kind : kKinds)
    if (kind.magic == number) return {kind.name, kind.is_network};
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "unknown (0x%llx)", static_cast<unsigned long long>(number));
  return {text.data(), false};
}

std::optional<FileSystemKind> file_system_of(const fs::path& place) {
  struct statfs disk {};
  if (::statfs(nearest_existing(place).c_str(), &disk) != 0) return std::nullopt;
  return file_system_kind(static_cast<std::int64_t>(disk.f_type));
}

Findings examine_workspace(const fs::path& workspace) {
  const protocol::WorkspacePaths paths{workspace};
  const fs::path place = nearest_existing(workspace);
  const auto holder = engine::WorkspaceLock::holder(workspace);
  return {folder(workspace), file_system(place),         free_space(place),
          lock(holder),      database(paths.database()), leftovers(paths, holder.has_value())};
}

}  // namespace rematch::doctor
