// What an allocation is for: a role, and the recompute regions that are open ("moe/moe_act"). Scopes say it for their own thread; the
// allocator reads the tag that is open there. Torch-free. A pair is interned once a process and never forgotten: there are a few dozen.
// Threads: any. Failure: none.
#pragma once

#include <cstddef>
#include <string>

#include "schemas/protocol/outcome.h"

namespace rematch::probes {

struct Tag {
  protocol::Role role = protocol::Role::kTemporaries;
  std::string region;  // empty outside every region
};

enum class TagId : std::size_t {};  // counts up from 0

TagId open_tag();
Tag tag_of(TagId id);
const std::string& open_region_path();

// Replaces the role until it ends. A thread begins with temporaries.
class RoleScope {
 public:
  explicit RoleScope(protocol::Role role);
  ~RoleScope();
  RoleScope(const RoleScope&) = delete;
  RoleScope& operator=(const RoleScope&) = delete;

 private:
  protocol::Role before_;
};

// Opens one region more, inside those that are open.
class RegionScope {
 public:
  explicit RegionScope(const std::string& label);
  ~RegionScope();
  RegionScope(const RegionScope&) = delete;
  RegionScope& operator=(const RegionScope&) = delete;

 private:
  std::string::size_type length_before_;
};

}  // namespace rematch::probes
