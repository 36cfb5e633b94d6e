// The Megatron Core revisions whose labels and rules are known, and the sets of them that rows of the label table and of the rule table
// name. A revision is a release number or the first digits of a commit hash.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rematch::protocol {

inline constexpr std::string_view kRelease0161 = "0.16.1";
inline constexpr std::string_view kSnapshot = "24bad8e6";  // 2026-08-10
inline constexpr std::string_view kMain = "d98e8a64";      // main of 2026-08-22
inline constexpr std::string_view kDev = "d48bd6be";       // dev of 2026-08-21

using CoreRevisions = std::span<const std::string_view>;

inline constexpr std::array kAllRevisions = {kRelease0161, kSnapshot, kMain, kDev};
inline constexpr std::array kWithGdnNormOut = {kSnapshot, kMain, kDev};
inline constexpr std::array kMainAndDev = {kMain, kDev};
inline constexpr std::array kMainOnly = {kMain};
inline constexpr std::array kDevOnly = {kDev};

// The spelling above of "0.16.1", "main", "dev" or a commit hash of 7 to 40 digits; null when unknown or when it fits several.
std::optional<std::string_view> resolve_revision(std::string_view core_revision);
std::vector<std::string> revision_names();                               // those of the table and the branches, for messages
bool contains(CoreRevisions revisions, std::string_view core_revision);  // in any spelling that resolve_revision takes

}  // namespace rematch::protocol
