#include "metric/confusion.h"

#include "support/support.h"

namespace soft {
namespace {

Confusion three_classes() {
  Confusion confusion(3);
  for (int i = 0; i < 5; ++i) confusion.add(0, 0);
  confusion.add(0, 2);
  for (int i = 0; i < 3; ++i) confusion.add(2, 1);
  return confusion;
}

TEST(Confusion, CountsPairsAndListsTheMostFrequentMistakesFirst) {
  const Confusion confusion = three_classes();
  EXPECT_EQ(confusion.count(0, 0), 5);
  EXPECT_EQ(confusion.count(1, 1), 0);
  const auto mistakes = confusion.mistakes();
  ASSERT_EQ(mistakes.size(), 2u);
  EXPECT_EQ(mistakes[0].label, 2);
  EXPECT_EQ(mistakes[0].answer, 1);
  EXPECT_EQ(mistakes[0].count, 3);
  EXPECT_EQ(mistakes[1].count, 1);
  EXPECT_FALSE(confusion.has_unanswered());
}

TEST(Confusion, IsWrittenWithALineAndAColumnForEveryClass) {
  const test::TemporaryFolder folder;
  const std::vector<std::string> names{"a", "b, c", "d"};
  write_confusion(folder.path("m.csv"), names, three_classes());
  EXPECT_EQ(test::read_file(folder.path("m.csv")),
            "class,a,\"b, c\",d\na,5,0,1\n\"b, c\",0,0,0\nd,0,3,0\n");
}

TEST(Confusion, PicturesThatCannotBeReadHaveAColumnOfTheirOwn) {
  const test::TemporaryFolder folder;
  Confusion confusion(1);
  confusion.add(0, Confusion::kUnanswered);
  write_confusion(folder.path("m.csv"), {"a"}, confusion);
  EXPECT_EQ(test::read_file(folder.path("m.csv")), "class,a,(unreadable)\na,0,1\n");
}

}  // namespace
}  // namespace soft
