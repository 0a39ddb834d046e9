// docs/peers.md names algorithms that exist.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "circoll/algorithm.hpp"

namespace circoll {
namespace {

TEST(Peers, EveryIdOfTheTableIsRegistered) {
  std::ifstream file(CIRCOLL_SOURCE_DIR "/docs/peers.md");
  ASSERT_TRUE(file);
  std::set<std::string> ids;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| ")) continue;
    // An id stands in backquotes, COLLECTIVE/NAME, in a row of its collective.
    for (std::size_t at = line.find('`'); at != std::string::npos; at = line.find('`', at + 1)) {
      const std::size_t end = line.find('`', at + 1);
      ASSERT_NE(end, std::string::npos) << line;
      const std::string word = line.substr(at + 1, end - at - 1);
      at = end;
      if (word.find('/') == std::string::npos) continue;
      EXPECT_NO_THROW((void)parse_selection(word)) << line;
      EXPECT_TRUE(line.starts_with("| " + word.substr(0, word.find('/')) + " |")) << line;
      ids.insert(word);
    }
  }
  EXPECT_GT(ids.size(), 50U);
}

TEST(Peers, TheTreeOfOpenMpiNamesAlgorithmsThatExist) {
  for (const std::string_view name :
       {"linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring", "rabenseifner"}) {
    EXPECT_NE(find_algorithm(Collective::allreduce, name), nullptr) << name;
  }
}

}  // namespace
}  // namespace circoll
