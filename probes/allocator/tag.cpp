#include "probes/allocator/tag.h"

#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace rematch::probes {

namespace {

class TagTable {
 public:
  TagId id_of(const Tag& tag) {
    const std::lock_guard lock(mutex_);
    const auto [found, is_new] = ids_.try_emplace({tag.role, tag.region}, TagId{tags_.size()});
    if (is_new) tags_.push_back(tag);
    return found->second;
  }
  Tag tag_of(TagId id) {
    const std::lock_guard lock(mutex_);
    return tags_.at(static_cast<std::size_t>(id));
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<protocol::Role, std::string>, TagId> ids_;
  std::vector<Tag> tags_;
};

// Never destroyed: threads may allocate while the process ends.
TagTable& tag_table() {
  static auto& table = *new TagTable;
  return table;
}

struct OpenTag {
  Tag tag;
  std::optional<TagId> id;  // found at the first allocation after a change
};

thread_local OpenTag open;

}  // namespace

TagId open_tag() {
  if (!open.id) open.id = tag_table().id_of(open.tag);
  return *open.id;
}

Tag tag_of(TagId id) { return tag_table().tag_of(id); }
const std::string& open_region_path() { return open.tag.region; }

RoleScope::RoleScope(protocol::Role role) : before_(std::exchange(open.tag.role, role)) { open.id.reset(); }

RoleScope::~RoleScope() {
  open.tag.role = before_;
  open.id.reset();
}

RegionScope::RegionScope(const std::string& label) : length_before_(open.tag.region.size()) {
  if (!open.tag.region.empty()) open.tag.region += '/';
  open.tag.region += label;
  open.id.reset();
}

RegionScope::~RegionScope() {
  open.tag.region.resize(length_before_);
  open.id.reset();
}

}  // namespace rematch::probes
