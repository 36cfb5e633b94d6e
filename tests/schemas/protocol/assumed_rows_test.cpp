// Rows of each expert where no router chose: whole numbers that add up, near their shares.
#include "schemas/protocol/assumed_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <numeric>

#include "schemas/protocol/prediction.h"

namespace rematch::protocol {
namespace {

using Rows = std::vector<std::int64_t>;

std::int64_t sum_of(const Rows& rows) { return std::accumulate(rows.begin(), rows.end(), std::int64_t{0}); }

TEST(AssumedRows, WithoutSharesAreEvenAndTheFirstExpertsTakeTheRest) {
  EXPECT_EQ(assumed_rows(12, 4, {}), (Rows{3, 3, 3, 3}));
  EXPECT_EQ(assumed_rows(14, 4, {}), (Rows{4, 4, 3, 3}));
  EXPECT_EQ(assumed_rows(2, 4, {}), (Rows{1, 1, 0, 0}));
}

TEST(AssumedRows, GoToTheLargestRemainders) {
  EXPECT_EQ(assumed_rows(10, 3, {0.26, 0.37, 0.37}), (Rows{2, 4, 4}));
  EXPECT_EQ(assumed_rows(10, 3, {0.5, 0.0, 0.5}), (Rows{5, 0, 5}));
}

TEST(AssumedRows, AddUpAndAreWithinOneOfTheirShareForEveryLoad) {
  for (const std::int64_t num_choices : {1, 640, 12288, 49152, 12289})
    for (const double imbalance : {1.0, 1.1, 1.7, 8.0}) {
      const auto shares = expert_shares({.kind = "imbalance", .imbalance = imbalance}, 64, 8);
      const auto rows = assumed_rows(num_choices, 64, shares);
      EXPECT_EQ(sum_of(rows), num_choices);
      for (std::size_t expert = 0; expert < rows.size(); ++expert)
        EXPECT_LE(std::abs(static_cast<double>(rows[expert]) - shares[expert] * static_cast<double>(num_choices)), 1.0);
    }
}

TEST(AssumedRows, OfAnImbalanceThatIsAWholeNumberAreExact) {
  const auto rows = assumed_rows(12800, 64, expert_shares({.kind = "imbalance", .imbalance = 1.1}, 64, 8));
  EXPECT_EQ(sum_of({rows.begin(), rows.begin() + 8}), 1760);  // 1.1 * 12800 / 8
  for (std::size_t expert = 0; expert < 8; ++expert) EXPECT_EQ(rows[expert], 220);
}

}  // namespace
}  // namespace rematch::protocol
