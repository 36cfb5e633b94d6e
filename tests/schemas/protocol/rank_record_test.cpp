#include "schemas/protocol/rank_record.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/schemas/protocol/expect_refused.h"
#include "tests/schemas/protocol/sample_documents.h"

namespace rematch::protocol {
namespace {

using nlohmann::json;

TEST(RankRecord, ReadsBackEachKindByteForByte) {
  const std::vector<RankRecord> records = sample_records();
  ASSERT_EQ(records.size(), std::variant_size_v<RankRecord>);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string line = to_line(records[i]);
    EXPECT_EQ(parse_line(line).index(), i) << line;
    EXPECT_EQ(to_line(parse_line(line)), line);
  }
}

TEST(RankRecord, KeepsEveryValueOfAStep) {
  const auto step = std::get<StepRecord>(parse_line(to_line(sample_step())));
  EXPECT_EQ(step.step, 7);
  EXPECT_EQ(step.loss, 0.1 + 0.2);
  EXPECT_EQ(step.loss_bits, "3e99999a");
  EXPECT_EQ(step.phases.at(Phase::kGradSync).peak_reserved_bytes, 23);
  EXPECT_EQ(step.forward_end_allocated_bytes, 1009);
  EXPECT_EQ(step.replays, (LabelCounts{{"moe_act", 3}}));
  EXPECT_EQ(step.tokens_received, (std::vector<std::int64_t>{128, 0, 64}));
  EXPECT_EQ(step.peak_attribution, sample_step().peak_attribution);
  EXPECT_EQ(step.aux_losses, sample_step().aux_losses);
}

TEST(RankRecord, KeepsTheEvidenceOfAnOutOfMemory) {
  const auto oom = std::get<OomRecord>(parse_line(to_line(sample_oom())));
  EXPECT_EQ(oom.stage, Stage::kFirstBackward);
  EXPECT_EQ(oom.phase, Phase::kBackward);
  EXPECT_EQ(oom.requested_bytes, 1);
  EXPECT_EQ(oom.allocated_bytes, 2);
  EXPECT_EQ(oom.reserved_bytes, 3);
  EXPECT_EQ(oom.capacity_bytes, 4);
  EXPECT_EQ(oom.scope, "layer.2.mlp.experts");
  EXPECT_EQ(oom.attribution, sample_oom().attribution);
}

TEST(RankRecord, SaysNullWhereTheDeviceCannotTellWhatItsMemoryIsFor) {
  StepRecord step = sample_step();
  step.peak_attribution.reset();
  EXPECT_NE(to_line(step).find("\"peak_attribution\":null"), std::string::npos);
  EXPECT_EQ(std::get<StepRecord>(parse_line(to_line(step))).peak_attribution, std::nullopt);
}

TEST(RankRecord, KeepsEveryRoleByItsName) {
  OomRecord oom = sample_oom();
  for (const Role role : kAllRoles) {
    oom.attribution = Attribution{{role, "", 1}};
    EXPECT_EQ(std::get<OomRecord>(parse_line(to_line(oom))).attribution, oom.attribution);
    EXPECT_EQ(parse_role(to_string(role)), role);
  }
}

TEST(RankRecord, KeepsEveryStageByItsName) {
  for (const Stage stage : kAllStages) {
    const StageRecord record{stage, StageEvent::kEnter, std::nullopt, 1, 2};
    EXPECT_EQ(std::get<StageRecord>(parse_line(to_line(record))).stage, stage);
  }
}

TEST(RankRecord, WritesNumbersThatAreNotFiniteAsNull) {
  StepRecord step = sample_step();
  step.loss = std::nan("");
  step.grad_norm = std::numeric_limits<double>::infinity();
  step.aux_losses = {{"z_loss", std::nan("")}};
  step.loss_bits = "7fc00000";
  const auto read = std::get<StepRecord>(parse_line(to_line(step)));
  EXPECT_EQ(read.loss, std::nullopt);
  EXPECT_EQ(read.grad_norm, std::nullopt);
  EXPECT_EQ(read.aux_losses.at("z_loss"), std::nullopt);
  EXPECT_EQ(read.loss_bits, "7fc00000");
}

TEST(RankRecord, IsOneLineOfUtf8WhateverTheMessageHolds) {
  ErrorRecord error;
  error.message = "two\nlines and half a character: \xe3\x83";
  const std::string line = to_line(error);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(std::get<ErrorRecord>(parse_line(line)).message.substr(0, 9), "two\nlines");
}

TEST(RankRecord, ToleratesAKeyThatANewerTrainerWrites) {
  json document = json::parse(to_line(sample_hello()));
  document["color"] = "blue";
  document["resolved_recompute"]["recompute_mhc"] = true;
  EXPECT_EQ(std::get<HelloRecord>(parse_line(document.dump())).rank, 1);
}

TEST(RankRecord, RefusesWhatIsNoRecord) {
  expect_refused([] { parse_line("rank 0 starting"); }, {"wanted one JSON object"});
  expect_refused([] { parse_line(""); }, {"wanted one JSON object"});
  expect_refused([] { parse_line("[1]"); }, {"wanted an object", "found [1]"});
  expect_refused([] { parse_line("{\"rank\":0}"); }, {"key \"t\""});
  expect_refused([] { parse_line("{\"t\":\"goodbye\"}"); }, {"record.t", "hello, model, stage", "goodbye"});
  expect_refused([] { parse_line("{\"t\":\"bye\",\"exit_code\":0}"); }, {"bye.steps_completed", "found none"});
}

TEST(RankRecord, RefusesWordsOutsideTheVocabulary) {
  const auto with = [](const RankRecord& record, const char* pointer, const json& value) {
    json document = json::parse(to_line(record));
    document[json::json_pointer(pointer)] = value;
    return document.dump();
  };
  const StageRecord stage;
  expect_refused([&] { parse_line(with(stage, "/stage", "lunch")); }, {"stage.stage", "spawned, joined", "\"lunch\""});
  expect_refused([&] { parse_line(with(stage, "/event", "pass")); }, {"stage.event", "enter, leave"});
  expect_refused([&] { parse_line(with(ByeRecord{}, "/exit_code", 3)); }, {"bye.exit_code", "0, 10, 11", "found 3"});
  expect_refused([&] { parse_line(with(sample_step(), "/loss_bits", "3e9999")); }, {"step.loss_bits", "8 hex digits"});
  expect_refused([&] { parse_line(with(sample_step(), "/phases/nap", json::object())); }, {"step.phases", "forward, backward", "\"nap\""});
  expect_refused([&] { parse_line(with(sample_step(), "/peak_attribution/0/role", "weights")); },
                 {"step.peak_attribution[0].role", "parameters, gradients", "\"weights\""});
  expect_refused([&] { parse_line(with(sample_step(), "/peak_attribution/0/bytes", 0)); },
                 {"step.peak_attribution[0].bytes", "at least 1"});
  expect_refused([&] { parse_line(with(sample_step(), "/end_allocated_bytes", nullptr)); }, {"step.end_allocated_bytes", "found null"});
}

}  // namespace
}  // namespace rematch::protocol
