#include "orchestrator/store/view_documents.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "orchestrator/store/migrations.h"
#include "tests/orchestrator/store/store_fixture.h"

namespace rematch::store {
namespace {

struct DocumentedColumn {
  std::string name;
  std::string unit;
  std::string meaning;
};
using DocumentedViews = std::map<std::string, std::vector<DocumentedColumn>>;

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line.substr(1));
  for (std::string cell; std::getline(stream, cell, '|');) {
    const auto begin = cell.find_first_not_of(' ');
    cells.push_back(begin == std::string::npos ? "" : cell.substr(begin, cell.find_last_not_of(' ') - begin + 1));
  }
  return cells;
}

DocumentedViews documented_views() {
  DocumentedViews views;
  std::string view;
  std::istringstream stream(view_documents());
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("## ")) view = line.substr(3);
    if (!line.starts_with("| ") || line.starts_with("| column ")) continue;
    const std::vector<std::string> cells = cells_of(line);
    EXPECT_EQ(cells.size(), 3U) << line;
    views[view].push_back({cells.at(0), cells.at(1), cells.at(2)});
  }
  return views;
}

using ViewDocuments = StoreFixture;

TEST_F(ViewDocuments, NameEveryColumnOfEveryViewAndNoOther) {
  open();
  Database database(path_);
  const DocumentedViews views = documented_views();
  std::set<std::string> there;
  for (const ValueRow& row : database.query("SELECT name FROM sqlite_schema WHERE type = 'view'")) {
    const auto view = std::get<std::string>(row.front());
    there.insert(view);
    std::vector<std::string> columns;
    for (const ValueRow& column : database.query("SELECT name FROM pragma_table_info(?)", {view}))
      columns.push_back(std::get<std::string>(column.front()));
    std::vector<std::string> documented;
    if (views.contains(view))
      for (const DocumentedColumn& column : views.at(view)) documented.push_back(column.name);
    EXPECT_EQ(documented, columns) << "of the view " << view << " in schemas/VIEWS.md";
  }
  for (const auto& [view, columns] : views) EXPECT_TRUE(there.contains(view)) << view << " is documented and does not exist";
}

TEST_F(ViewDocuments, GiveEachColumnAMeaningAndTheUnitThatItsNameEndsIn) {
  for (const auto& [view, columns] : documented_views())
    for (const DocumentedColumn& column : columns) {
      EXPECT_FALSE(column.meaning.empty()) << view << "." << column.name;
      const std::string unit = column.name.ends_with("_bytes") ? "bytes" : column.name.ends_with("_ns") ? "ns" : column.unit;
      EXPECT_EQ(column.unit, unit) << view << "." << column.name;
    }
}

TEST_F(ViewDocuments, NameTheSchemaVersion) {
  EXPECT_TRUE(view_documents().starts_with("# Views of schema version " + std::to_string(embedded_migrations().back().version) + "\n"));
}

}  // namespace
}  // namespace rematch::store
