#include "orchestrator/base/device_table.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

namespace rematch::base {
namespace {

TEST(DeviceTable, GivesEveryFigureItsOrigin) {
  std::set<std::string> names;
  for (const DeviceRow& row : device_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " stands there twice";
    const auto check = [&](const auto& figure) {
      EXPECT_GT(figure.value, 0) << row.name;
      EXPECT_GT(std::string(figure.origin).size(), 10u) << row.name;
    };
    check(row.memory_bytes);
    check(row.outside_allocator_bytes);
    check(row.workspace_bytes);
    check(row.matmul_flops_per_s);
    check(row.memory_bytes_per_s);
    check(row.nvlink_bytes_per_s);
    check(row.network_bytes_per_s);
    check(row.launch_ns);
    EXPECT_LT(row.outside_allocator_bytes.value + row.workspace_bytes.value, row.memory_bytes.value / 10) << row.name;
    EXPECT_LT(row.network_bytes_per_s.value, row.nvlink_bytes_per_s.value) << row.name;
    EXPECT_LT(row.nvlink_bytes_per_s.value, row.memory_bytes_per_s.value) << row.name;
  }
}

TEST(DeviceTable, HasTheNamesOfTheSweepSchema) {
  std::ifstream file(REMATCH_SOURCE_DIR "/schemas/json/sweep.schema.json");
  const auto schema = nlohmann::json::parse(file);
  const auto& names = schema.at("properties").at("simulate").at("properties").at("device").at("enum");
  EXPECT_EQ(names.get<std::vector<std::string>>(), device_names());
}

TEST(DeviceTable, FindsARowByItsNameAlone) {
  EXPECT_EQ(find_device("H200")->name, std::string("H200"));
  EXPECT_EQ(find_device("h200"), nullptr);
}

}  // namespace
}  // namespace rematch::base
