// Numbers and names as people write them.
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

#include "circoll/error.hpp"
#include "facts/text.hpp"

namespace circoll {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

TEST(Numbers, UnitsArePowersOf1024) {
  EXPECT_EQ(parse_number("0"), 0);
  EXPECT_EQ(parse_number("007"), 7);
  for (const std::string text : {"64Ki", "64K", "64k", "64ki"}) EXPECT_EQ(parse_number(text), 65536) << text;
  for (const std::string text : {"64KiB", "64KB", "64Kb", "64K", "65536B", "65536"})
    EXPECT_EQ(parse_bytes(text), 65536) << text;
  EXPECT_EQ(parse_number("1M"), 1 << 20);
  EXPECT_EQ(parse_number("3Gi"), std::int64_t{3} << 30);
  EXPECT_EQ(parse_number("5T"), std::int64_t{5} << 40);
  EXPECT_EQ(parse_number("1Pi"), std::int64_t{1} << 50);
}

TEST(Numbers, PowersOfTenAreExact) {
  EXPECT_EQ(parse_number("1e6"), 1000000);
  EXPECT_EQ(parse_number("25E0"), 25);
  EXPECT_EQ(parse_number("9e18"), 9000000000000000000);
  EXPECT_EQ(parse_number("0e1000000000000"), 0);
  EXPECT_EQ(parse_number("1e19"), std::nullopt);
  EXPECT_EQ(parse_number("1e9999999999999"), std::nullopt);
}

TEST(Numbers, WhatIsTooLargeIsNone) {
  EXPECT_EQ(parse_number(std::to_string(largest)), largest);
  EXPECT_EQ(parse_number("9223372036854775808"), std::nullopt);
  EXPECT_EQ(parse_number("7Ei"), std::int64_t{7} << 60);
  EXPECT_EQ(parse_number("8Ei"), std::nullopt);
  EXPECT_EQ(parse_number("9007199254740992Ki"), std::nullopt);
}

TEST(Numbers, OtherTextsAreNone) {
  for (const std::string text : {"",     "-1",   "+1", " 1", "1 ",   "x",    "Ki",   "B",     "1.5Ki", "1X",   "1Kib",
                                 "1KiX", "1Kii", "1e", "1E", "1e-3", "1e+6", "1e6K", "1e6e6", "1K1",   "0x10", "1BB"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
    EXPECT_EQ(parse_bytes(text).has_value(), text == "1Kib") << text;
  }
  EXPECT_EQ(parse_number("64KB"), std::nullopt) << "ranks are no bytes";
}

TEST(Numbers, ExactNumbersAreReadAgain) {
  EXPECT_EQ(exact_number(65536), "64Ki");
  EXPECT_EQ(exact_number(1025), "1025");
  for (int shift = 0; shift < 63; ++shift) {
    for (const std::int64_t number : {std::int64_t{1} << shift, (std::int64_t{1} << shift) + 1}) {
      EXPECT_EQ(parse_number(exact_number(number)), number);
    }
  }
}

TEST(Lists, AreTheWordsBetweenCommas) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(split_list("a,bc,d=1"), (Words{"a", "bc", "d=1"}));
  EXPECT_EQ(split_list(",a,,b,"), (Words{"a", "b"})) << "without empty ones";
  EXPECT_EQ(split_list("a"), Words{"a"});
  EXPECT_EQ(split_list(""), Words{});
  EXPECT_EQ(split_list(","), Words{});
}

TEST(Names, OfToStringAreKnownWithMpiAndInCapitalsToo) {
  const auto in_capitals = [](std::string_view name) {
    std::string text = "MPI_";
    for (const char c : name) text += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
  };
  for (std::size_t i = 0; i < type_count; ++i) {
    const auto type = static_cast<Type>(i);
    EXPECT_EQ(parse_type(to_string(type)), type);
    EXPECT_EQ(parse_type(in_capitals(to_string(type))), type);
  }
  for (std::size_t i = 0; i < op_count; ++i) {
    const auto op = static_cast<Op>(i);
    EXPECT_EQ(parse_op(to_string(op)), op);
    EXPECT_EQ(parse_op(in_capitals(to_string(op))), op);
  }
  for (const Collective collective : all_collectives) {
    EXPECT_EQ(parse_collective(to_string(collective)), collective);
    EXPECT_EQ(parse_collective(in_capitals(to_string(collective))), collective);
  }
}

TEST(Names, OfMpiHaveTheExtentOfTheirCTypes) {
  struct Row {
    std::string name;
    Type type;
    std::size_t extent;
  };
  const Row rows[] = {{"MPI_FLOAT", Type::float32, sizeof(float)},
                      {"double", Type::float64, sizeof(double)},
                      {"int", Type::int32, sizeof(int)},
                      {"MPI_UNSIGNED_LONG", Type::uint64, sizeof(unsigned long)},
                      {"short", Type::int16, sizeof(short)},
                      {"MPI_INT64_T", Type::int64, 8},
                      {"MPI_C_BOOL", Type::boolean, sizeof(bool)},
                      {"MPI_DOUBLE_PRECISION", Type::float64, 8},
                      {"MPI_C_DOUBLE_COMPLEX", Type::complex128, 16},
                      {"MPI_2INT", Type::pair_int_int, 8},
                      {"MPI_LONG_DOUBLE_INT", Type::pair_long_double_int, 32}};
  for (const Row& row : rows) {
    EXPECT_EQ(parse_type(row.name), row.type) << row.name;
    EXPECT_EQ(extent_bytes(parse_type(row.name)), row.extent) << row.name;
  }
}

template <typename Parse>
std::string refusal(Parse parse, std::string_view name) {
  try {
    (void)parse(name);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unknown_name);
    return error.what();
  }
  ADD_FAILURE() << name << " is known";
  return {};
}

TEST(Names, UnknownOnesAreAnsweredByTheList) {
  const std::string type = refusal(parse_type, "flaot32");
  EXPECT_NE(type.find("'flaot32' is no element type (did you mean float32"), std::string::npos) << type;
  const std::string op = refusal(parse_op, "mean");
  EXPECT_EQ(op.find("'mean' is no operator; known are sum, prod, min, "), 0U) << op;
  EXPECT_NE(op.find(", no_op"), std::string::npos) << op;
  const std::string collective = refusal(parse_collective, "allredce");
  EXPECT_EQ(collective.find("'allredce' is no collective (did you mean allreduce?); known are allreduce, reduce, "), 0U)
      << collective;
  EXPECT_NE(collective.find(", exscan"), std::string::npos) << collective;
}

TEST(Names, UnknownTypesAreAnsweredByMpisNamesToo) {
  const auto answer = [](std::string_view name) {
    const std::string text = refusal(parse_type, name);
    EXPECT_NE(text.find("known are byte, int8, "), std::string::npos) << text;
    const std::size_t end = text.find("; known are ");
    const std::string_view kind = "element type";
    return text.substr(text.find(kind) + kind.size(), end - text.find(kind) - kind.size());
  };
  EXPECT_EQ(answer("flaot"), " (did you mean float?)") << "two letters are swapped";
  EXPECT_EQ(answer("MPI_FLAOT"), " (did you mean float?)");
  EXPECT_EQ(answer("itn"), " (did you mean int?)");
  EXPECT_EQ(answer("MPI_DOUBEL"), " (did you mean double, 2double?)");
  EXPECT_EQ(answer("floats"), " (did you mean float, float16, float32?)") << "what is nearest comes first";
  EXPECT_EQ(answer("intger"), " (did you mean integer, integer1, integer2?)");
  EXPECT_EQ(answer("MPI_DOUBLE_PRECISON"), " (did you mean double_precision, 2double_precision?)");
  EXPECT_EQ(answer("struct"), "") << "nothing is near";
}

TEST(Names, AreRewrittenForCommandLines) {
  std::string text = "64KB";
  EXPECT_EQ(rewrite_bytes(text), "");
  EXPECT_EQ(text, "65536");
  text = "MPI_DOUBLE";
  EXPECT_EQ(rewrite_type(text), "");
  EXPECT_EQ(text, "float64");
  text = "64X";
  EXPECT_EQ(rewrite_number(text).find("'64X' is not a number (such as 65536"), 0U);
  EXPECT_EQ(text, "64X") << "what is wrong stays as it was";
}

TEST(Readable, TimesHaveThreeDigits) {
  EXPECT_EQ(readable_time(0), "0 s");
  EXPECT_EQ(readable_time(4.56789e-7), "457 ns");
  EXPECT_EQ(readable_time(1.23456e-5), "12.3 us");
  EXPECT_EQ(readable_time(9.999e-4), "1 ms") << "not 1e+03 us";
  EXPECT_EQ(readable_time(0.5, ""), "500ms");
  EXPECT_EQ(readable_time(1234.5), "1234 s") << "not 1.234e+03 s";
}

TEST(Readable, Bytes) {
  EXPECT_EQ(readable_bytes(100), "100 B");
  EXPECT_EQ(readable_bytes(16384), "16 KiB");
  EXPECT_EQ(readable_bytes(3 << 19), "1.5 MiB");
}

}  // namespace
}  // namespace circoll
