#include "schemas/protocol/core_revisions.h"

#include <algorithm>
#include <utility>

namespace rematch::protocol {

namespace {

constexpr std::pair<std::string_view, std::string_view> kBranches[] = {{"main", kMain}, {"dev", kDev}};
constexpr std::size_t kMinPrefixDigits = 7;
constexpr std::size_t kHashDigits = 40;

bool is_hash(std::string_view text) {
  return text.size() >= kMinPrefixDigits && text.size() <= kHashDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Either may be the longer one: a table holds a short hash, a user may give a shorter one or the full one.
bool is_prefix_either_way(std::string_view a, std::string_view b) {
  const std::size_t length = std::min(a.size(), b.size());
  return a.substr(0, length) == b.substr(0, length);
}

}  // namespace

std::optional<std::string_view> resolve_revision(std::string_view core_revision) {
  for (const auto& [branch, revision] : kBranches)
    if (core_revision == branch) return revision;
  if (core_revision == kRelease0161) return kRelease0161;
  if (!is_hash(core_revision)) return std::nullopt;
  std::optional<std::string_view> resolved;
  for (const std::string_view known : kAllRevisions) {
    if (!is_prefix_either_way(known, core_revision)) continue;
    if (resolved) return std::nullopt;
    resolved = known;
  }
  return resolved;
}

std::vector<std::string> revision_names() {
  std::vector<std::string> names(kAllRevisions.begin(), kAllRevisions.end());
  for (const auto& [branch, revision] : kBranches) names.emplace_back(branch);
  return names;
}

bool contains(CoreRevisions revisions, std::string_view core_revision) {
  const auto resolved = resolve_revision(core_revision);
  return resolved && std::find(revisions.begin(), revisions.end(), *resolved) != revisions.end();
}

}  // namespace rematch::protocol
