#include "probes/allocator/tag.h"

#include <gtest/gtest.h>

#include <thread>

namespace rematch::probes {
namespace {

using protocol::Role;

TEST(Tag, IsTemporariesOutsideEveryScope) {
  EXPECT_EQ(tag_of(open_tag()).role, Role::kTemporaries);
  EXPECT_EQ(tag_of(open_tag()).region, "");
}

TEST(Tag, JoinsOpenRegionsAndKeepsTheRoleOfTheInnermostScope) {
  const TagId outside = open_tag();
  {
    const RoleScope forward(Role::kActivations);
    const RegionScope outer("moe");
    {
      const RegionScope inner("moe_act");
      const RoleScope exchange(Role::kCommunication);
      EXPECT_EQ(tag_of(open_tag()).region, "moe/moe_act");
      EXPECT_EQ(tag_of(open_tag()).role, Role::kCommunication);
      EXPECT_EQ(open_region_path(), "moe/moe_act");
    }
    EXPECT_EQ(tag_of(open_tag()).region, "moe");
    EXPECT_EQ(tag_of(open_tag()).role, Role::kActivations);
  }
  EXPECT_EQ(open_tag(), outside);
}

TEST(Tag, HasOneIdAPair) {
  const auto id_of = [](Role role, const char* region) {
    const RoleScope role_scope(role);
    const RegionScope region_scope(region);
    return open_tag();
  };
  EXPECT_EQ(id_of(Role::kActivations, "mlp"), id_of(Role::kActivations, "mlp"));
  EXPECT_NE(id_of(Role::kActivations, "mlp"), id_of(Role::kActivations, "moe"));
  EXPECT_NE(id_of(Role::kActivations, "mlp"), id_of(Role::kTemporaries, "mlp"));
}

TEST(Tag, IsTheThreadsOwn) {
  const RoleScope role(Role::kParameters);
  Role of_other_thread = Role::kParameters;
  std::thread([&] { of_other_thread = tag_of(open_tag()).role; }).join();
  EXPECT_EQ(of_other_thread, Role::kTemporaries);
}

}  // namespace
}  // namespace rematch::probes
