// The program as a stranger meets it: verbs, help, messages, exit codes, Ctrl-C, memory.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <tuple>

#include "hgt/disk/temporary_test_folder.h"
#include "hgt/graph/graph_check.h"
#include "hgt/graph/hetero_graph.h"
#include "tests/run_program.h"

namespace hgt {
namespace {

namespace fs = std::filesystem;

class Program : public testing::Test {
 protected:
  Outcome run(const std::vector<std::string>& words,
              const std::function<void(pid_t)>& while_running = {}) const {
    return run_program(folder_.path(), words, while_running);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  // Users and items that buy each other: `edges` rows made by a formula.
  void write_shop(uint64_t edges) const {
    std::ofstream users(folder_ / "users.tsv");
    std::ofstream buys(folder_ / "buys.tsv");
    users << "id\n";
    for (int i = 0; i < 1000; ++i) users << "u" << i << '\n';
    buys << "buyer\tseller\n";
    for (uint64_t i = 0; i < edges; ++i) {
      buys << "u" << i * 7919 % 1000 << "\tu" << i * 104729 / 1000 % 1000 << '\n';
    }
    write("shop.toml",
          "[[nodes]]\ntype = 'user'\nfiles = 'users.tsv'\nid = 'id'\n"
          "[[edges]]\ntype = 'buys_from'\nfiles = 'buys.tsv'\n"
          "source = { type = 'user', column = 'buyer' }\n"
          "target = { type = 'user', column = 'seller' }\n");
  }

  TestFolder folder_;
};

TEST_F(Program, AloneListsItsVerbs) {
  const Outcome outcome = run({});
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* verb : {"generate", "import", "export", "inspect", "sample", "doctor"}) {
    EXPECT_NE(outcome.out.find(verb), std::string::npos) << verb;
    const Outcome help = run({verb, "--help"});
    EXPECT_EQ(help.exit_code, 0) << verb;
    EXPECT_NE(help.out.find("--"), std::string::npos) << verb;
  }
  EXPECT_NE(run({"generate", "--help"}).out.find("oag"), std::string::npos);
}

TEST_F(Program, HelpShowsCommonOptionsBeforeAdvancedOnes) {
  for (const char* verb :
       {"sample", "generate", "features", "train", "tune", "compare", "evaluate"}) {
    const std::string help = run({verb, "--help"}).out;
    const size_t common = help.find("\nCommon options:");
    const size_t advanced = help.find("\nAdvanced");
    ASSERT_NE(common, std::string::npos) << help;
    ASSERT_NE(advanced, std::string::npos) << help;
    EXPECT_LT(common, advanced) << verb;
    EXPECT_EQ(help.find("\nOptions:"), std::string::npos) << verb;
    EXPECT_EQ(help.find("\nCommon options:", common + 1), std::string::npos) << verb;
  }
  const std::string train = run({"train", "--help"}).out;
  const size_t advanced = train.find("\nAdvanced");
  for (const char* everyday :
       {"--task",       "--run ",          "--config",   "--preset", "--model",
        "--hidden",     "--heads",         "--layers",   "--epochs", "--batches",
        "--batch-size", "--learning-rate", "--strategy", "--width",  "--depth",
        "--seed",       "--repeats",       "--threads",  "--resume", "--quiet"}) {
    EXPECT_LT(train.find(std::string("\n  ") + everyday), advanced) << everyday;
  }
  for (const char* group : {"model", "sampling", "training", "validation", "task"}) {
    EXPECT_NE(train.find(std::string("\nAdvanced: ") + group + ":"), std::string::npos) << group;
  }
}

TEST_F(Program, HelpOfAllVerbsShowsTheOptionsOfBothPrograms) {
  const Outcome outcome = run({"--help-all"});
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* verb :
       {"generate", "import", "export", "inspect", "sample", "doctor", "features", "train", "tune",
        "compare", "evaluate", "predict", "embed", "explain", "similar", "report", "view"}) {
    const std::string title = std::string("--- hgt ") + verb + " ---";
    const size_t place = outcome.out.find(title);
    ASSERT_NE(place, std::string::npos) << verb;
    EXPECT_EQ(outcome.out.find(title, place + 1), std::string::npos) << verb;
  }
  for (const char* option : {"--shortcuts", "--neighbor-cap", "--learning-rate", "--recipe"}) {
    EXPECT_NE(outcome.out.find(option), std::string::npos) << option;
  }
}

TEST_F(Program, AVerbThatIsMisspelledIsAnsweredWithTheOneThatWasMeant) {
  for (const auto& [wrong, meant] : std::vector<std::pair<std::string, std::string>>{
           {"trian", "train"}, {"genrate", "generate"}, {"inspct", "inspect"}}) {
    const Outcome outcome = run({wrong, "some", "--thing"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("unknown verb '" + wrong + "'; did you mean '" + meant + "'?"),
              std::string::npos)
        << outcome.err;
  }
  const Outcome other = run({"frobnicate"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("the verbs are generate, import"), std::string::npos) << other.err;
}

TEST_F(Program, WrongUsageExitsWithTwoAndSaysHowToGetHelp) {
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"generte"},
                                             {"generate"},
                                             {"generate", "--out", path("g"), "--preset", "huge"},
                                             {"import", "m.toml"},
                                             {"inspect"},
                                             {"inspect", "a", "--jsno"},
                                             {"generate", "--out", path("g"), "--memory", "4X"}}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 2) << words[0] << outcome.err;
    EXPECT_NE(outcome.err.find("--help"), std::string::npos) << outcome.err;
  }
}

// Every verb is asked for its numbers, and each of them refuses what no machine can serve.
TEST_F(Program, EveryNumberHasARangeThatItsMessageShows) {
  const std::regex number("(--[a-z-]+) (INT|UINT|FLOAT|SIZE|SHARE)");
  size_t checked = 0;
  for (const char* verb :
       {"generate", "import", "sample", "doctor", "features", "train", "evaluate", "predict",
        "embed", "tune", "compare", "similar", "explain", "report", "view"}) {
    const std::string help = run({verb, "--help"}).out;
    std::set<std::string> options;
    for (auto it = std::sregex_iterator(help.begin(), help.end(), number);
         it != std::sregex_iterator(); ++it) {
      options.insert((*it)[1]);
    }
    for (const std::string& option : options) {
      const char* value = ++checked % 2 == 0 ? "-1" : "1e300";
      const Outcome outcome = run({verb, path("g"), option, value});
      EXPECT_EQ(outcome.exit_code, 2) << verb << ' ' << option << ' ' << value;
      EXPECT_NE(outcome.err.find(" to "), std::string::npos) << outcome.err;
    }
  }
  EXPECT_GT(checked, 15U);
  const auto expect = [&](const std::vector<std::string>& words, const std::string& part) {
    const Outcome outcome = run(words);
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  };
  expect({"generate", "--out", path("g"), "--memory", "-1"},
         "'-1' is not a size from 64M to 1024T");
  expect({"evaluate", path("r"), "--threads", "10000"}, "0 to 1024");
}

TEST_F(Program, ErrorsAreOneLineWithFileAndRemedyAndExitWithOne) {
  write("bad.toml", "[[nodes]]\ntype = 'user'\nfiels = 'users.tsv'\nid = 'id'\n");
  fs::create_directory(folder_ / "empty");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"inspect", path("nowhere")}, "no such graph folder"},
      {{"inspect", path("empty")}, "schema.json"},
      {{"import", path("nowhere.toml"), "--out", path("g")}, "no such manifest"},
      {{"import", path("bad.toml"), "--out", path("g")},
       "bad.toml:1: [[nodes]] has no 'files'; it has fiels, id, type"},
      {{"generate", "--preset", "tiny", "--out", path("no/such/place")}, "no folder"},
      {{"generate", "--preset", "tiny", "--papers", "5", "--out", path("g")}, "tiny"},
      {{"generate", "--preset", "tiny", "--out", path("g"), "--memory", "1M"}, "at least"},
  };
  for (const auto& [words, expected] : cases) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_NE(outcome.err.find(expected), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_FALSE(fs::exists(folder_ / "g"));
    EXPECT_FALSE(fs::exists(folder_ / "g.partial"));
  }
}

TEST_F(Program, GeneratesAndInspectsAsInTheReadme) {
  const Outcome made = run({"generate", "--preset", "tiny", "--out", path("tiny.graph")});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_TRUE(fs::exists(folder_ / "tiny.graph/truth/truth.json"));
  const Outcome text = run({"inspect", path("tiny.graph"), "--verify"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("verified"), std::string::npos);
  EXPECT_NE(text.out.find("writes_first"), std::string::npos);

  const auto json = nlohmann::json::parse(run({"inspect", path("tiny.graph"), "--json"}).out);
  const auto graph = HeteroGraph::open(folder_ / "tiny.graph");
  ASSERT_EQ(json.at("node_types").size(), graph.schema().node_types().size());
  for (size_t i = 0; i < graph.schema().relations().size(); ++i) {
    EXPECT_EQ(json.at("relations")[i].at("edges"), graph.num_edges(Relation(i)));
  }
  EXPECT_EQ(json.at("verified"), false);
}

TEST_F(Program, RefusesToOverwriteUnlessForced) {
  ASSERT_EQ(run({"generate", "--preset", "tiny", "--out", path("g")}).exit_code, 0);
  const Outcome again = run({"generate", "--preset", "tiny", "--out", path("g")});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(again.err.find("--force"), std::string::npos) << again.err;
  EXPECT_EQ(run({"generate", "--preset", "tiny", "--out", path("g"), "--force"}).exit_code, 0);
}

// Whatever is in the way and is not a graph of ours, and nothing else, stays as it is.
TEST_F(Program, ForceReplacesNothingButAGraph) {
  write_shop(20);
  fs::create_directory(folder_ / "tables");
  for (const char* name : {"shop.toml", "users.tsv", "buys.tsv"}) {
    fs::copy_file(folder_ / name, folder_ / "tables" / name);
  }
  write("file", "mine");
  ASSERT_EQ(run({"generate", "--preset", "tiny", "--out", path("graph")}).exit_code, 0);
  fs::create_directory_symlink("graph", folder_ / "link");
  fs::copy(folder_ / "graph", folder_ / "annotated", fs::copy_options::recursive);
  write("annotated/notes.txt", "mine");
  fs::copy(folder_ / "graph", folder_ / "inputs", fs::copy_options::recursive);
  fs::copy(folder_ / "tables", folder_ / "inputs/paper");
  fs::create_directory(folder_ / "free.partial");
  write("free.partial/thesis.tex", "mine");
  const auto before = folder_bytes(folder_.path());
  const std::vector<std::tuple<std::string, std::string, std::string>> cases = {
      {"tables/shop.toml", "tables", "no schema.json"},
      {"shop.toml", "file", "is a file"},
      {"shop.toml", "link", "is a link"},
      {"shop.toml", "annotated", "also holds notes.txt"},
      {"inputs/paper/shop.toml", "inputs", "shop.toml: lies in"},
      {"shop.toml", "free", "free.partial: is in the way"},
  };
  for (const auto& [manifest, out, expected] : cases) {
    const Outcome outcome = run({"import", path(manifest), "--out", path(out), "--force"});
    EXPECT_EQ(outcome.exit_code, 1) << out;
    EXPECT_NE(outcome.err.find(expected), std::string::npos) << outcome.err;
    for (const char* said : {"stdout", "stderr"}) fs::remove(folder_ / said);
    auto after = folder_bytes(folder_.path());
    for (const char* said : {"stdout", "stderr"}) after[said] = before.at(said);
    EXPECT_EQ(after, before) << out;
  }
  EXPECT_EQ(run({"import", path("shop.toml"), "--out", path("graph"), "--force"}).exit_code, 0);
  EXPECT_EQ(HeteroGraph::open(folder_ / "graph").schema().node_types().size(), 1U);
}

TEST_F(Program, VerifySaysWhichFileIsDamaged) {
  ASSERT_EQ(run({"generate", "--preset", "tiny", "--out", path("g")}).exit_code, 0);
  std::fstream file(folder_ / "g/paper/time.npy", std::ios::in | std::ios::out);
  file.seekp(128);
  file.put('\x7f');
  file.close();
  EXPECT_EQ(run({"inspect", path("g")}).exit_code, 0) << "the quick check looks at sizes only";
  const Outcome outcome = run({"inspect", path("g"), "--verify", "--quiet"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("paper/time.npy"), std::string::npos) << outcome.err;
}

TEST_F(Program, ImportsReportsAndExports) {
  write_shop(2000);
  std::ofstream(folder_ / "buys.tsv", std::ios::app) << "u1\tnobody\nu1\n";
  const Outcome made = run({"import", path("shop.toml"), "--out", path("shop.graph")});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_NE(made.out.find("edges to unknown nodes"), std::string::npos) << made.out;
  EXPECT_NE(made.out.find("buys.tsv:2002: "), std::string::npos) << made.out;
  EXPECT_NE(made.out.find("peak memory"), std::string::npos);
  const Outcome strict = run({"import", path("shop.toml"), "--out", path("s"), "--strict"});
  EXPECT_EQ(strict.exit_code, 1);
  EXPECT_NE(strict.err.find("buys.tsv:2002: "), std::string::npos) << strict.err;
  ASSERT_EQ(run({"export", path("shop.graph"), "--out", path("tables")}).exit_code, 0);
  ASSERT_EQ(run({"import", path("tables/manifest.toml"), "--out", path("again")}).exit_code, 0);
  EXPECT_EQ(read_bytes(folder_ / "again/user/incoming_sources.npy"),
            read_bytes(folder_ / "shop.graph/user/incoming_sources.npy"));
}

TEST_F(Program, AnImportThatLosesATableFailsAndSaysWhatWouldHelp) {
  write("o.csv", "id;day;total\n1;20190102;5\n2;20190103;\n3;20190104;7\n4;20190105;8\n");
  const auto write_manifest = [&](const std::string& more) {
    write("o.toml",
          "time_unit = 'day'\n[[nodes]]\ntype = 'order'\nfiles = 'o.csv'\nid = 'id'\n"
          "time = 'day'\n" +
              more);
  };
  const auto import_error = [&](const std::string& more, const std::string& expected) {
    write_manifest(more);
    const Outcome outcome = run({"import", path("o.toml"), "--out", path("o.graph")});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find(expected), std::string::npos) << outcome.err;
    EXPECT_FALSE(fs::exists(folder_ / "o.graph"));
    EXPECT_FALSE(fs::exists(folder_ / "o.graph.partial"));
  };
  // As the messages say, one after the other.
  std::string more;
  import_error(more, "did you mean delimiter = \";\"?");
  import_error(more += "delimiter = ';'\n", "time_format = \"%Y%m%d\" reads it");
  import_error(more += "time_format = '%Y%m%d'\nfeatures = { columns = 'total' }\n",
               "o.csv:3: '' in column total is not a finite number");
  const Outcome allowed =
      run({"import", path("o.toml"), "--out", path("most.graph"), "--max-dropped", "0.25"});
  EXPECT_EQ(allowed.exit_code, 0) << allowed.err;
  write_manifest(
      "delimiter = ';'\ntime_format = '%Y%m%d'\n"
      "features = { columns = 'total', missing = 0 }\n");
  const Outcome made = run({"import", path("o.toml"), "--out", path("o.graph")});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_NE(made.out.find("2019-01-02 to 2019-01-05"), std::string::npos) << made.out;
  for (const char* share : {"-0.1", "1.5", "nan", "x"}) {
    const Outcome outcome =
        run({"import", path("o.toml"), "--out", path("s"), "--max-dropped", share});
    EXPECT_NE(outcome.exit_code, 0) << share;
    EXPECT_FALSE(fs::exists(folder_ / "s")) << share;
  }
}

TEST_F(Program, DoctorTellsWhatItComputesWith) {
  const Outcome text = run({"doctor", "--threads", "1"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("BLAS"), std::string::npos);
  EXPECT_NE(text.out.find("1 of "), std::string::npos) << text.out;
  const auto json = nlohmann::json::parse(run({"doctor", "--threads", "1", "--json"}).out);
  EXPECT_EQ(json.at("threads"), 1);
  EXPECT_GT(json.at("gemm_gflops").get<double>(), 0.0);
  EXPECT_EQ(json.at("reading") == "io_uring", json.at("why_not_io_uring") == "") << json;
  EXPECT_GT(json.at("memory_bytes").get<uint64_t>(), json.at("available_bytes").get<uint64_t>());
  EXPECT_EQ(run({"doctor", "--threads", "-1"}).exit_code, 2);
}

TEST_F(Program, WarnsOfTheReferenceBlasAndSaysHowToMendIt) {
  const char* const reference = "/usr/lib/x86_64-linux-gnu/blas";
  if (!fs::exists(fs::path(reference) / "libblas.so.3")) {
    GTEST_SKIP() << "no reference BLAS in " << reference;
  }
  ::setenv("LD_LIBRARY_PATH", reference, 1);
  const Outcome outcome = run({"doctor", "--threads", "1"});
  ::unsetenv("LD_LIBRARY_PATH");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("reference BLAS"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("libopenblas0-openmp"), std::string::npos) << outcome.err;
}

TEST_F(Program, CtrlCLeavesNothingHalfWritten) {
  const auto interrupt = [&](pid_t child) {
    while (!fs::exists(folder_ / "big.graph.partial")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    ::kill(child, SIGINT);
  };
  const Outcome outcome = run(
      {"generate", "--preset", "cs", "--papers", "1000000", "--out", path("big.graph")}, interrupt);
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_NE(outcome.err.find("nothing was left half-written"), std::string::npos) << outcome.err;
  for (const auto& entry : fs::directory_iterator(folder_.path())) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(name == "stdout" || name == "stderr") << name;
  }
}

TEST_F(Program, AKilledImportIsCleanedUpByTheNextOne) {
  const auto kill = [&](pid_t child) {
    while (!fs::exists(folder_ / "g.partial")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ::kill(child, SIGKILL);
  };
  run({"generate", "--preset", "cs", "--papers", "1000000", "--out", path("g")}, kill);
  ASSERT_TRUE(fs::exists(folder_ / "g.partial"));
  EXPECT_FALSE(fs::exists(folder_ / "g")) << "a half-written graph must not look like a whole one";
  EXPECT_EQ(run({"inspect", path("g.partial")}).exit_code, 1);
  ASSERT_EQ(run({"generate", "--preset", "tiny", "--out", path("g")}).exit_code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "g.partial"));
}

#ifndef HGT_SANITIZED  // sanitizers need memory themselves
TEST_F(Program, ImportStaysWithinItsMemoryBound) {
  constexpr uint64_t kEdges = 12'000'000;  // 24 million entries: three times the bound
  write_shop(kEdges);
  const Outcome small =
      run({"import", path("shop.toml"), "--out", path("small"), "--memory", "64M", "--quiet"});
  ASSERT_EQ(small.exit_code, 0) << small.err;
  EXPECT_LT(small.peak_bytes, uint64_t{160} << 20U) << "64 MB and 96 MB of everything else";
  const auto graph = HeteroGraph::open(folder_ / "small");
  EXPECT_EQ(graph.num_edges(graph.schema().relation("user", "buys_from", "user")), kEdges);
  verify(graph);
}
#endif

}  // namespace
}  // namespace hgt
