#include "study/table.h"

#include "support/support.h"

namespace soft {
namespace {

TEST(Table, AlignsItsColumnsAndStartsAnewWhenTheyChange) {
  const Json rows{
      {{"name", "a"}, {"ms", 1.23456}}, {{"name", "long"}, {"ms", 1234.5}}, {{"count", 3}}};
  EXPECT_EQ(table_of(rows),
            "name     ms\n"
            "   a  1.235\n"
            "long   1234\n"
            "\n"
            "count\n"
            "    3\n");
  EXPECT_EQ(table_of(Json::array()), "");
}

TEST(Csv, HasEveryKeyOnceAndGapsWhereARowLacksIt) {
  const Json rows{{{"name", "a"}, {"ms", 1.5}}, {{"name", "b"}, {"count", 3}}};
  EXPECT_EQ(csv_of(rows), "name,ms,count\na,1.5,\nb,,3\n");
}

TEST(Csv, QuotesWhatWouldBreakALine) {
  const Json rows{{{"name", "a,\"b\"\nc"}}};
  EXPECT_EQ(csv_of(rows), "name\n\"a,\"\"b\"\"\nc\"\n");
}

}  // namespace
}  // namespace soft
