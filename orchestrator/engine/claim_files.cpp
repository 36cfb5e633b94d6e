#include "orchestrator/engine/claim_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "orchestrator/base/whole_number.h"
#include "schemas/protocol/document_error.h"
#include "schemas/protocol/record_file.h"
#include "schemas/protocol/write_boundary.h"

namespace rematch::engine {

namespace {

namespace fs = std::filesystem;
constexpr std::string_view kEnding = ".json";

// An answer that the network lost says "exists" of a link that this process made.
bool was_linked(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && status.st_nlink == 2;
}

[[noreturn]] void fail(int error, const fs::path& path) {
  throw std::system_error(error, std::generic_category(), "create the claim " + path.string());
}

// For file systems without links: the file is there before its content is.
bool create_then_fill(const fs::path& path, std::string_view content) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0 && errno == EEXIST) return false;
  if (descriptor < 0) fail(errno, path);
  ::close(descriptor);
  protocol::write_file_by_rename(path, content);
  return true;
}

}  // namespace

std::optional<ClaimName> parse_claim_name(const fs::path& path) {
  const std::string name = path.filename();
  const auto dash = name.rfind('-');
  if (!name.ends_with(kEnding) || dash == std::string::npos || dash == 0) return std::nullopt;
  const auto epoch = base::whole_number(std::string_view(name).substr(dash + 1, name.size() - kEnding.size() - dash - 1));
  if (!epoch || *epoch < 1) return std::nullopt;
  return ClaimName{name.substr(0, dash), *epoch};
}

std::vector<ClaimName> claims_in(const fs::path& runners) {
  std::vector<ClaimName> claims;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(runners, none))
    if (auto claim = parse_claim_name(entry.path())) claims.push_back(*std::move(claim));
  return claims;
}

bool create_exclusively(const fs::path& path, std::string_view content, const std::string& unique_suffix) {
  const fs::path prepared = path.string() + "." + unique_suffix;
  protocol::write_file_by_rename(prepared, content);
  const bool linked = ::link(prepared.c_str(), path.c_str()) == 0;
  const int error = linked ? 0 : errno;
  const bool created = linked || (error == EEXIST && was_linked(prepared));
  ::unlink(prepared.c_str());
  if (created) {
    protocol::pass_write_boundary("created", "claim");
    return true;
  }
  if (error == EEXIST) return false;
  if (error == EPERM || error == ENOTSUP || error == ENOSYS || error == EMLINK) return create_then_fill(path, content);
  fail(error, path);
}

std::optional<protocol::RunnerRecord> try_read_claim(const fs::path& path) {
  try {
    return protocol::read_runner_record(path.string());
  } catch (const protocol::DocumentError&) {
    return std::nullopt;
  }
}

}  // namespace rematch::engine
