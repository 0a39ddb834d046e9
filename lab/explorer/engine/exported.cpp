// The one function that the page calls.
#include <string>

#include "answers.hpp"

extern "C" const char* circoll_answer(const char* question);

/// Answers a question in JSON. The text lives until the next call.
extern "C" __attribute__((used)) const char* circoll_answer(const char* question) {
  static circoll::explorer::Sessions sessions;
  static std::string text;
  text = circoll::explorer::answer(sessions, question);
  return text.c_str();
}
