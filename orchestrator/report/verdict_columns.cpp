#include "orchestrator/report/verdict_columns.h"

#include "orchestrator/report/verdict_text.h"

namespace rematch::report {

namespace {

using base::Effect;

template <typename Get>
auto of_effect(Get get) {
  return [get](const ArmContext& context) { return context.arm->effect ? get(*context.arm->effect) : Cell{}; };
}
template <typename Get>
auto of_memory(Get get) {
  return of_effect([get](const Effect& e) { return e.memory ? get(*e.memory) : Cell{}; });
}
template <typename Get>
auto of_time(Get get) {
  return of_effect([get](const Effect& e) { return e.time ? get(*e.time) : Cell{}; });
}

}  // namespace

ArmColumns memory_verdict_columns() {
  using base::MemoryVerdict;
  return {
      {{"memory_verdict", "memory"}, of_memory([](const MemoryVerdict& m) { return name_cell(m.word); })},
      {{"memory_low_bytes", "peak diff from"}, of_memory([](const MemoryVerdict& m) { return cell_of<BytesDelta>(m.low_bytes); })},
      {{"memory_high_bytes", "peak diff to"}, of_memory([](const MemoryVerdict& m) { return cell_of<BytesDelta>(m.high_bytes); })},
  };
}

// In text the interval stands in place of the plain ratio where there is one.
ArmColumns time_effect_columns() {
  using base::TimeVerdict;
  return {
      {{"time_delta_fraction", "time diff", Place::kDataOnly},
       of_effect([](const Effect& e) { return cell_of<FractionDelta>(e.time_delta_fraction); })},
      {{"time_delta_without_interval", "time diff", Place::kTextOnly},
       of_effect([](const Effect& e) { return e.time ? Cell{} : cell_of<FractionDelta>(e.time_delta_fraction); })},
      {{"time_fraction", "fitted time diff", Place::kDataOnly},
       of_time([](const TimeVerdict& t) { return Cell{FractionDelta{nine_digits(t.fraction)}}; })},
      {{"time_low_fraction", "low", Place::kDataOnly},
       of_time([](const TimeVerdict& t) { return Cell{FractionDelta{nine_digits(t.low)}}; })},
      {{"time_high_fraction", "high", Place::kDataOnly},
       of_time([](const TimeVerdict& t) { return Cell{FractionDelta{nine_digits(t.high)}}; })},
      {{"time_verdict", "time", Place::kDataOnly}, of_time([](const TimeVerdict& t) { return name_cell(t.word); })},
      {{"blocks_needed", "blocks needed", Place::kDataOnly}, of_time([](const TimeVerdict& t) { return cell_of<Count>(t.blocks_needed); })},
      {{"time_text", "time diff [interval]", Place::kTextOnly}, of_time([](const TimeVerdict& t) { return Cell{time_text(t)}; })},
      {{"pareto", "Pareto"}, [](const ArmContext& c) { return c.arm->is_pareto ? Cell{"yes"} : Cell{}; }},
      {{"aa_time_difference_fraction", "A/A"},
       [](const ArmContext& c) { return c.arm->figures ? cell_of<FractionDelta>(c.aa_fraction) : Cell{}; }},
  };
}

}  // namespace rematch::report
