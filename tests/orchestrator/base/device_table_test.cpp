#include "orchestrator/base/device_table.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>

namespace rematch::base {
namespace {

// The quantities that a text names, in order: bytes, operations or bytes a second, nanoseconds.
std::vector<double> quantities(const std::string& text) {
  static const std::map<std::string, double> units = {{"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15},
                                                      {"TB/s", 1e12},     {"GB/s", 1e9},         {"Gb/s", 1e9 / 8}, {"us", 1e3}};
  static const std::regex quantity("([0-9.]+) (MiB|GiB|TFLOP/s|PFLOP/s|TB/s|GB/s|Gb/s|us)");
  std::vector<double> found;
  for (std::sregex_iterator match(text.begin(), text.end(), quantity), end; match != end; ++match)
    found.push_back(std::stod((*match)[1]) * units.at((*match)[2]));
  return found;
}

// Of memory whose origin is its bus and clock: both edges of the clock carry data.
std::optional<double> bus_bytes_per_s(const std::string& text) {
  std::smatch match;
  if (!std::regex_search(text, match, std::regex("([0-9]+) bits at ([0-9]+) MHz"))) return std::nullopt;
  return std::stod(match[1]) / 8 * 2 * std::stod(match[2]) * 1e6;
}

// Each origin says where its figure comes from, and the figure follows from what it says.
class Origins : public ::testing::TestWithParam<DeviceRow> {
 protected:
  template <typename T, typename Formula>
  void expect(const Sourced<T>& figure, double tolerance, const Formula& formula) {
    const std::string origin = figure.origin;
    SCOPED_TRACE(std::string(GetParam().name) + ": " + origin);
    EXPECT_TRUE(std::regex_search(origin, std::regex("data sheet of|driver|assumed: |vendor|PyTorch's")));
    const double wanted = formula(origin);
    EXPECT_NEAR(static_cast<double>(figure.value), wanted, tolerance * wanted);
  }
};

constexpr double kLastDigit = 1e-4;

TEST_P(Origins, GiveTheirFigures) {
  const auto first = [](const std::string& origin) { return quantities(origin).at(0); };
  const auto half = [&](const std::string& origin) { return first(origin) / 2; };
  expect(GetParam().memory_bytes, kLastDigit, first);
  expect(GetParam().outside_allocator_bytes, 0,
         [](const std::string& origin) { return quantities(origin).at(0) + quantities(origin).at(1); });
  expect(GetParam().workspace_bytes, 0, [](const std::string& origin) {
    EXPECT_NE(origin.find("4 streams of"), std::string::npos);
    return quantities(origin).at(0) + 4 * quantities(origin).at(1);
  });
  expect(GetParam().matmul_flops_per_s, kLastDigit, half);
  // A bus and a clock are finer than the two digits kept.
  expect(GetParam().memory_bytes_per_s, 5e-3, [&](const std::string& origin) {
    const auto of_bus = bus_bytes_per_s(origin);
    return of_bus ? *of_bus : first(origin);
  });
  expect(GetParam().nvlink_bytes_per_s, 0, half);
  expect(GetParam().network_bytes_per_s, 0, first);
  expect(GetParam().launch_ns, 0, first);
}

INSTANTIATE_TEST_SUITE_P(Rows, Origins, ::testing::ValuesIn(device_rows().begin(), device_rows().end()));

TEST(DeviceTable, HasEachDeviceOnceWithFiguresInTheirOrder) {
  std::set<std::string> names;
  for (const DeviceRow& row : device_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " stands there twice";
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
