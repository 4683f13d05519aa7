// What the programs are built with, as readelf sees it.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace {

std::string readelf(const std::string& options, const std::string& program) {
  std::FILE* const in =
      ::popen(("LC_ALL=C readelf -W " + options + " '" + program + "'").c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer{};
  while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), in)) {
    text.append(buffer.data(), got);
  }
  EXPECT_EQ(::pclose(in), 0) << "readelf is in Debian's package binutils";
  return text;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Hardening : public testing::TestWithParam<const char*> {};

TEST_P(Hardening, PlacesTheProgramAnywhere) {
  EXPECT_TRUE(contains(readelf("-h", GetParam()), "DYN (Position-Independent Executable file)"));
}

TEST_P(Hardening, ResolvesEverythingAtTheStartAndProtectsIt) {
  EXPECT_TRUE(contains(readelf("-l", GetParam()), "GNU_RELRO"));
  const std::string dynamic = readelf("-d", GetParam());
  EXPECT_TRUE(contains(dynamic, "BIND_NOW") || contains(dynamic, "Flags: NOW")) << dynamic;
}

TEST_P(Hardening, GuardsTheStack) {
  EXPECT_TRUE(contains(readelf("--dyn-syms", GetParam()), "__stack_chk_fail"));
  const std::string segments = readelf("-l", GetParam());
  const size_t stack = segments.find("GNU_STACK");
  ASSERT_NE(stack, std::string::npos);
  EXPECT_FALSE(contains(segments.substr(stack, segments.find('\n', stack) - stack), "RWE"));
}

TEST_P(Hardening, ChecksCopies) {
  EXPECT_TRUE(contains(readelf("--dyn-syms", GetParam()), "_chk@")) << "no fortified function";
}

INSTANTIATE_TEST_SUITE_P(Programs, Hardening, testing::Values(HGT_PROGRAM, HGT_LEARN_PROGRAM));

}  // namespace
