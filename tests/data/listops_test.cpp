#include "data/listops.h"

#include <zlib.h>

#include <map>
#include <set>
#include <sstream>

#include "data/gzip.h"
#include "data/toy.h"

namespace soft {
namespace {

using testing::HasSubstr;

std::vector<uint8_t> tokens_of(const std::string& text) {
  std::vector<uint8_t> tokens;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (const uint8_t token = listops_token(word)) tokens.push_back(token);
  }
  return tokens;
}

TEST(ListOps, EvaluatesEveryOperator) {
  EXPECT_EQ(listops_value("7"), 7);
  EXPECT_EQ(listops_value("[MIN 4 2 9 ]"), 2);
  EXPECT_EQ(listops_value("[MAX 4 2 9 ]"), 9);
  EXPECT_EQ(listops_value("[SM 4 2 9 ]"), 5);
  EXPECT_EQ(listops_value("[MED 4 2 9 ]"), 4);
  EXPECT_EQ(listops_value("[MED 4 2 9 9 ]"), 6);  // 6.5
  EXPECT_EQ(listops_value("[MED 1 0 ]"), 0);      // 0.5
  EXPECT_EQ(listops_value("[MED 9 9 0 0 0 ]"), 0);
  EXPECT_EQ(listops_value("[MAX [MIN 4 2 ] [SM 9 9 ] X"), 8);
  EXPECT_EQ(listops_value("( ( ( [MIN 4 ) 3 ) ] )"), 3);
}

// The median by counting against the median by sorting.
TEST(ListOps, MediansAgreeWithSorting) {
  Random random(5);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<int> digits(2 + random.below(9));
    std::string text = "[MED";
    for (int& digit : digits) {
      digit = static_cast<int>(random.below(10));
      text += " " + std::to_string(digit);
    }
    std::sort(digits.begin(), digits.end());
    const size_t n = digits.size();
    EXPECT_EQ(listops_value(text + " ]"), (digits[(n - 1) / 2] + digits[n / 2]) / 2) << text;
  }
}

TEST(ListOps, SaysWhatIsWrongWithAnExpression) {
  const auto error = [](const std::string& text) {
    return test::error_of([&] { listops_value(text); });
  };
  EXPECT_THAT(error("[MIN 4 3"), HasSubstr("1 of its lists are not closed"));
  EXPECT_THAT(error("4 ]"), HasSubstr("']' comes after the end"));
  EXPECT_THAT(error("]"), HasSubstr("closes nothing"));
  EXPECT_THAT(error("[SM ]"), HasSubstr("'[SM ]' has no arguments"));
  EXPECT_THAT(error("[MIN 4 12 ]"), HasSubstr("'12' is no token of ListOps"));
  EXPECT_THAT(error("[AVG 4 2 ]"), HasSubstr("'[AVG' is no token of ListOps"));
  EXPECT_THAT(error(" "), HasSubstr("empty"));
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += "[MIN ";
  EXPECT_THAT(error(deep), HasSubstr("more than 1000 lists are nested"));
}

// Lines of the original set's test file and of the public long-range generator.
TEST(ListOps, LabelsOfPublicLinesAreRight) {
  GzipReader file(test::golden("listops_lines.tsv.gz"));
  std::string text(size_t{1} << 20, '\0');
  text.resize(file.read_some(reinterpret_cast<uint8_t*>(text.data()), text.size()));
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const size_t tab = line.find('\t');
    const std::string source = line.substr(tab + 1);
    EXPECT_EQ(std::to_string(listops_value(source)), line.substr(0, tab)) << line;
    EXPECT_EQ(listops_text(tokens_of(source)), source);
  }
  EXPECT_EQ(count, 220);
}

TEST(ListOps, TreesFollowFromTheSeed) {
  ListOpsTrees one(7), again(7), other(8);
  for (int i = 0; i < 20; ++i) {
    const std::vector<uint8_t> tokens = one.next().tokens;
    EXPECT_EQ(tokens, again.next().tokens);
    EXPECT_NE(tokens, other.next().tokens);
  }
}

TEST(ListOps, TreesAreUniqueValidAndOfTheRightLength) {
  ListOpsTrees trees(1);
  std::set<std::vector<uint8_t>> seen;
  for (int i = 0; i < 2000; ++i) {
    const ListOpsTree& tree = trees.next();
    EXPECT_GT(tree.tokens.size(), 500u);
    EXPECT_LT(tree.tokens.size(), 2000u);
    EXPECT_EQ(listops_value(listops_text(tree.tokens)), tree.value);
    EXPECT_TRUE(seen.insert(tree.tokens).second);
  }
}

// Counts of the 500 expressions of a public sample; chi-square against ours, each at the 0.1 %
// level. The counts of lengths are by hundreds, those of arguments by their number.
double chi_square(const std::vector<double>& sample, const std::vector<double>& ours) {
  double a = 0, b = 0, sum = 0;
  for (size_t i = 0; i < sample.size(); ++i) {
    a += sample[i];
    b += ours[i];
  }
  for (size_t i = 0; i < sample.size(); ++i) {
    const double difference = sample[i] * std::sqrt(b / a) - ours[i] * std::sqrt(a / b);
    if (sample[i] + ours[i] > 0) sum += difference * difference / (sample[i] + ours[i]);
  }
  return sum;
}

struct Counts {
  std::vector<double> lengths = std::vector<double>(15), labels = std::vector<double>(10),
                      operators = std::vector<double>(4), digits = std::vector<double>(10),
                      roots = std::vector<double>(4);
};

Counts count_ours(int trees_wanted) {
  Counts counts;
  ListOpsTrees trees(2026);
  for (int i = 0; i < trees_wanted; ++i) {
    const ListOpsTree& tree = trees.next();
    ++counts.lengths[(tree.tokens.size() - 500) / 100];
    ++counts.labels[tree.value];
    ++counts.roots[tree.tokens[0] - kListOpsMin];
    for (uint8_t token : tree.tokens) {
      if (token < kListOpsMin)
        ++counts.digits[token - kListOpsDigit];
      else if (token < kListOpsEnd)
        ++counts.operators[token - kListOpsMin];
    }
  }
  return counts;
}

TEST(ListOps, DistributionsAreThoseOfThePublicGenerator) {
  const Counts ours = count_ours(5000);
  const std::vector<double> lengths{51, 64, 48, 51, 49, 42, 33, 35, 28, 24, 26, 11, 13, 15, 10};
  const std::vector<double> labels{100, 37, 34, 34, 44, 39, 38, 46, 49, 79};
  const std::vector<double> roots{130, 135, 110, 125};
  const std::vector<double> operators{18502, 18523, 18651, 18545};
  const std::vector<double> digits{37146, 37449, 37380, 37365, 37317,
                                   37448, 37488, 36882, 37469, 37072};
  EXPECT_LT(chi_square(lengths, ours.lengths), 36.1);  // 14 degrees of freedom
  EXPECT_LT(chi_square(labels, ours.labels), 27.9);    // 9
  EXPECT_LT(chi_square(roots, ours.roots), 16.3);      // 3
  EXPECT_LT(chi_square(operators, ours.operators), 16.3);
  EXPECT_LT(chi_square(digits, ours.digits), 27.9);
}

TEST(ListOps, FilesHoldWhatTheSeedDraws) {
  const test::TemporaryFolder folder;
  write_listops({folder.path("set"), 3, 20, 5, 4});
  std::istringstream train(test::read_file(folder.path("set/basic_train.tsv")));
  std::string line;
  std::getline(train, line);
  EXPECT_EQ(line, "Source\tTarget");
  ListOpsTrees trees(3);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(std::getline(train, line));
    const ListOpsTree& tree = trees.next();
    EXPECT_EQ(line, listops_text(tree.tokens) + "\t" + std::to_string(tree.value));
  }
  EXPECT_FALSE(std::getline(train, line));
  const std::string test_file = test::read_file(folder.path("set/basic_test.tsv"));
  EXPECT_EQ(std::count(test_file.begin(), test_file.end(), '\n'), 5);
  EXPECT_THAT(test::error_of([&] {
                write_listops({folder.path("set"), 3, 0, 5, 4});
              }),
              HasSubstr("at least 1"));
}

}  // namespace
}  // namespace soft
