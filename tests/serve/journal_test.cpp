// The log: its lines, its files, and that it never makes anybody wait.
#include "serve/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <thread>

#include "base/json.h"
#include "support/support.h"

namespace soft {
namespace {

using namespace test;
using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr Visit kVisit{"::1", "GET", "/a?b=\"\n", 200, 14, 1.25};
const auto kNow = std::chrono::system_clock::from_time_t(1'000'000'000) + 7ms;

TEST(Journal, ALineHasTimeClientRequestStatusBytesAndMilliseconds) {
  EXPECT_EQ(access_line(kVisit, kNow, false),
            "2001-09-09T01:46:40.007Z ::1 \"GET /a?b=\\\"?\" 200 14 1.2\n");
  EXPECT_EQ(Json::parse(access_line(kVisit, kNow, true)),
            Json::parse(R"({"time":"2001-09-09T01:46:40.007Z","client":"::1","method":"GET",)"
                        R"("path":"/a?b=\"?","status":200,"bytes":14,"ms":1.25})"));
  EXPECT_EQ(access_line({"x", "", "", 400, 0, 0}, kNow, false),
            "2001-09-09T01:46:40.007Z x \"-\" 400 0 0.0\n");
}

TEST(Journal, DatesAreThoseOfHttp) { EXPECT_EQ(http_date(kNow), "Sun, 09 Sep 2001 01:46:40 GMT"); }

TEST(Journal, WritesToItsFilesAndOpensThemAnewWhenAsked) {
  const TemporaryFolder folder;
  const std::string access = folder.path("access.log"), errors = folder.path("error.log");
  {
    Journal journal({access, errors, true});
    EXPECT_TRUE(journal.has_files());
    journal.visit(kVisit);
    journal.error("first");
    journal.flush(10s);
    std::filesystem::rename(access, access + ".1");
    std::filesystem::rename(errors, errors + ".1");
    journal.reopen();
    journal.error("second");
  }
  EXPECT_EQ(Json::parse(read_file(access + ".1"))["status"], 200);
  EXPECT_EQ(read_file(access), "");
  EXPECT_EQ(Json::parse(read_file(errors + ".1"))["message"], "first");
  EXPECT_EQ(Json::parse(read_file(errors))["message"], "second");
}

TEST(Journal, NotesNoRequestsUnlessAsked) {
  const TemporaryFolder folder;
  {
    Journal journal({"", folder.path("error.log"), false});
    journal.visit(kVisit);
  }
  EXPECT_EQ(read_file(folder.path("error.log")), "");
}

TEST(Journal, SaysThatAFileCannotBeOpened) {
  EXPECT_THAT(error_of([] {
                Journal({"/nowhere/at/all", "", false});
              }),
              HasSubstr("cannot write the log '/nowhere/at/all'"));
}

// A pipe that is full and never read: whoever wrote to it directly would wait for ever.
TEST(Journal, NobodyWaitsForAReaderThatDoesNotRead) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const std::string path = "/proc/self/fd/" + std::to_string(ends[1]);
  {
    Journal journal({"", path, false, 100});
    for (int i = 0; i < 2'000; ++i) journal.error(std::string(1'000, 'x'));
    EXPECT_GT(journal.dropped(), 0u);
  }
  close(ends[0]);
  close(ends[1]);
}

// A disk that hangs while a file is opened anew, here a pipe with nobody at its other end.
TEST(Journal, NobodyWaitsForAFileThatDoesNotOpen) {
  const TemporaryFolder folder;
  const std::string path = folder.path("error.log");
  Journal journal({"", path, false});
  journal.error("first");
  journal.flush(10s);
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  journal.reopen();
  std::this_thread::sleep_for(200ms);  // for its thread to open it
  auto said = std::async(std::launch::async, [&] { journal.error("second"); });
  EXPECT_EQ(said.wait_for(20s), std::future_status::ready);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // the disk is back
  said.wait();
  journal.flush(10s);
  close(reader);
}

}  // namespace
}  // namespace soft
