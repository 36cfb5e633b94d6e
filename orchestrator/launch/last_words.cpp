#include "orchestrator/launch/last_words.h"

#include <fstream>
#include <variant>

#include "orchestrator/launch/process.h"
#include "schemas/protocol/record_file.h"

namespace rematch::launch {

namespace {

void end_torn_line(const std::filesystem::path& path) { std::ofstream(path, std::ios::app) << "\n"; }

}  // namespace

void write_host_oom(const std::filesystem::path& rank_record, const std::string& message, std::int64_t end_mono_ns) {
  const protocol::RecordFile file = protocol::read_record_file(rank_record);
  protocol::ErrorRecord error;
  error.kind = protocol::FailureKind::kHostOom;
  error.exit_code = protocol::TrainExit::kOutOfMemory;
  for (const protocol::RankRecord& record : file.records) {
    const auto* stage = std::get_if<protocol::StageRecord>(&record);
    if (stage == nullptr || stage->event != protocol::StageEvent::kEnter) continue;
    error.stage = stage->stage;
    error.step = stage->step;
  }
  error.unix_ns = unix_now_ns();
  error.mono_ns = end_mono_ns;
  error.message = message;
  if (file.torn_tail) end_torn_line(rank_record);
  protocol::RecordWriter(rank_record).append(error);
}

}  // namespace rematch::launch
