#include "doctor/finding.hpp"

namespace circoll::cli {

std::string to_string(Weight weight) {
  return weight == Weight::good ? "good" : weight == Weight::note ? "note" : "wrong";
}

bool any_wrong(const Findings& findings) {
  bool wrong = false;
  for (const Finding& one : findings) wrong = wrong || one.weight == Weight::wrong;
  return wrong;
}

}  // namespace circoll::cli
