// circoll tune --here and circoll doctor, with a launcher that starts nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "circoll/collectives.hpp"
#include "facts/processor_name.hpp"
#include "select/profile_search.hpp"
#include "support/command.hpp"
#include "support/profiles.hpp"

namespace circoll {
namespace {

namespace fs = std::filesystem;

class Here : public testing::Test {
 protected:
  Here() {
    fs::create_symlink(CIRCOLL_FAKE_LAUNCHER, bin_.path() + "/mpirun");
    fs::create_symlink("/bin/true", bin_.path() + "/circoll-bench.openmpi");  // where none is built
  }
  [[nodiscard]] std::string profile() const {
    const select::ProfileKey key{.library = "Open MPI 9.9.9", .processor = processor_name()};
    return config_.path() + "/circoll/profiles/" + select::profile_file_name(key);
  }
  /// The launches since the beginning.
  [[nodiscard]] long launches() const {
    if (!fs::exists(log())) return 0;
    const std::string text = content(log());
    return std::count(text.begin(), text.end(), '\n');
  }
  [[nodiscard]] std::string log() const { return bin_.path() + "/log"; }
  /// True if the directory of profiles is empty except for a lock.
  [[nodiscard]] bool no_profile() const {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(config_.path() + "/circoll/profiles", error)) {
      if (entry.path().filename() != ".lock") return false;
    }
    return true;
  }

  TemporaryDirectory bin_, config_, kept_;
  Variable path_{"PATH", bin_.path() + ":" + std::getenv("PATH")};
  Variable xdg_{"XDG_CONFIG_HOME", config_.path()}, log_{"FAKE_LOG", log()}, well_{"FAKE", std::nullopt};
  Variable same_{"FAKE_PROCESSOR", processor_name()};
  Variable root_{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, confirmed_{"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"};
  Variable no_profile_{"CIRCOLL_PROFILE", std::nullopt}, no_node_{"CIRCOLL_NODE", std::nullopt};
  Variable no_copy_{"CIRCOLL_NODE_COPY", std::nullopt}, no_policy_{"CIRCOLL_POLICY", std::nullopt};
  // The real launchers are not called.
  const std::string quick_ = "tune --here --quick --mpi openmpi -p 2 2>&1";
};

/// mpirun.openmpi would come first.
std::string with_own_name(const std::string& directory) {
  const std::string name = directory + "/mpirun.openmpi";
  if (!fs::exists(name)) fs::create_symlink(CIRCOLL_FAKE_LAUNCHER, name);
  return name;
}

TEST_F(Here, WritesAProfileThatIsFound) {
  with_own_name(bin_.path());
  const CommandResult outcome = run(quick_);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, " against native 2.0 times as fast, over all cells\n") ||
              contains(outcome.out, " % faster, over all cells\n"))
      << outcome.out;
  EXPECT_TRUE(contains(outcome.out, " are changed: there 2.0 times as fast\n")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "compared with what runs today: the choices of the model")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "Programs under the drop-in use it from now on.")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "written to " + profile())) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "launch 1 of 2; about ")) << outcome.out;
  EXPECT_EQ(launches(), 3);
  const select::ProfileHead head = select::read_profile_head(content(profile()), profile());
  ASSERT_NE(head.find(2), nullptr);
  EXPECT_EQ(head.find(2)->launches, 2);
  const auto explained =
      nlohmann::json::parse(run("explain bcast -p 2 --nodes 1 --bytes 4Ki --mpi openmpi --json").out);
  EXPECT_EQ(explained.at("profile"), profile());
  EXPECT_TRUE(explained.at("reason").get<std::string>().starts_with("profile " + profile() + ":")) << explained;
  // On several nodes the choice is the model's, and Circoll looks for no profile.
  const auto spread = nlohmann::json::parse(run("explain bcast -p 2 --bytes 4Ki --json").out);
  EXPECT_TRUE(spread.at("reason").get<std::string>().starts_with("least predicted time")) << spread;
  // A run with more ranks is merged into the profile.
  const CommandResult more = run("tune --here --quick --mpi openmpi -p 3 2>&1");
  ASSERT_EQ(more.exit_code, 0) << more.out;
  EXPECT_EQ(select::read_profile_head(content(profile()), profile()).measured.size(), 2U);
}

TEST_F(Here, WritesNothingThatTheCheckDenies) {
  with_own_name(bin_.path());
  const Variable denied("FAKE_DENIED", "3");  // the launch to check
  const CommandResult outcome = run(quick_);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "; one more launch did not confirm ")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "  nothing to gain: keep auto. Nothing is written\n")) << outcome.out;
  EXPECT_FALSE(contains(outcome.out, "from now on")) << outcome.out;
  EXPECT_TRUE(no_profile());
}

TEST_F(Here, ComparesWithTheProfileOfToday) {
  with_own_name(bin_.path());
  ASSERT_EQ(run(quick_).exit_code, 0);
  const std::string before = content(profile());
  const Variable denied("FAKE_DENIED", "1");  // one of the launches
  const CommandResult outcome = run(quick_);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "compared with what runs today: the profile " + profile())) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "nothing to gain: keep auto")) << outcome.out;
  EXPECT_EQ(content(profile()), before);
}

TEST_F(Here, ExplainTakesTheRulesOfAProgram) {
  const std::string text = R"({"circoll_rules": 1,
 "profile": {"version": 1, "library": "Open MPI 9.9.9", "processor": ")" +
                           processor_name() +
                           R"(", "measured": []},
 "programs": {"cg": {"measured": {"report": "r", "launches": 3, "circoll": "0.4", "date": "2026-01-03", "host": "n"},
   "bcast": [{"p": [4, 5], "use": "linear"}, {"otherwise": "auto"}]}}})";
  const std::string file = config_.write("circoll/profiles/p.json", text);
  const auto reason = [](const std::string& more) {
    return nlohmann::json::parse(run("explain bcast -p 4 --bytes 4Ki --mpi openmpi --json " + more).out)
        .at("reason")
        .get<std::string>();
  };
  EXPECT_EQ(reason("--nodes 1 --program cg"), "profile " + file + ":4 for cg: linear");
  EXPECT_EQ(reason("--nodes 2 --program cg"), "profile " + file + ":4 for cg: linear");
  EXPECT_TRUE(reason("--nodes 1 --program fft").starts_with("profile " + file + " has nothing for 4 ranks"));
  EXPECT_TRUE(reason("--nodes 1").starts_with("profile " + file + " has nothing for 4 ranks"));
  EXPECT_TRUE(contains(run("explain bcast -p 4 --nodes 1 --program cg").out, "with rules for cg"));
  with_own_name(bin_.path());
  EXPECT_TRUE(contains(run("doctor --mpi openmpi").out, "it has rules for cg (2026-01-03; not tried)"));
  EXPECT_TRUE(contains(run("doctor --mpi openmpi").out, "ranks on several hosts learn"));
}

TEST_F(Here, SaysHowAFileIsUsed) {
  with_own_name(bin_.path());
  const std::string file = config_.path() + "/own.json";
  const CommandResult outcome = run("tune --here --quick --mpi openmpi -p 2 -o " + file + " 2>&1");
  EXPECT_TRUE(
      contains(outcome.out, "Use it by CIRCOLL_PROFILE=" + file + ". Programs do not look there by themselves."))
      << outcome.out;
}

TEST_F(Here, TakesTheLauncherThatIsGiven) {
  fs::create_symlink("/bin/true", kept_.path() + "/circoll-bench.openmpi");
  const Variable path("PATH", kept_.path() + ":/usr/bin/none");  // no mpirun
  const std::string given = " --mpi openmpi --launcher '/usr/bin/python3 " CIRCOLL_FAKE_LAUNCHER " -np {np}'";
  const CommandResult outcome = run("tune --here --quick -p 2" + given + " 2>&1");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "written to " + profile())) << outcome.out;
  const auto doctor = nlohmann::json::parse(run("doctor --json" + given).out);
  EXPECT_EQ(doctor.at("libraries")[0].at("profile"), profile()) << doctor;
  EXPECT_TRUE(contains(run("tune --here --mpi openmpi --launcher srun 2>&1").out, "where the number of ranks stands"));
}

TEST_F(Here, DoctorBeginsWithAProfileOfAnotherPatchLevel) {
  with_own_name(bin_.path());
  const CommandResult before = run("doctor --mpi openmpi -p 2");
  EXPECT_FALSE(before.out.starts_with("WRONG")) << before.out;
  // A build without MPI has no drop-in, and says so.
  EXPECT_EQ(before.exit_code, contains(before.out, "there is none for Open MPI beside this circoll") ? 1 : 0)
      << before.out;
  config_.write("circoll/profiles/old.json",
                profile_text({.library = "Open MPI 9.9.8", .processor = processor_name()}));
  const CommandResult outcome = run("doctor --mpi openmpi -p 2");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(
      outcome.out.starts_with("WRONG: the profile of Open MPI 9.9.8 is not used any more, since this is Open MPI "
                              "9.9.9\n  -> circoll tune --here --mpi openmpi -p 2\n"))
      << outcome.out;
}

TEST_F(Here, GoesOnWhereItWas) {
  with_own_name(bin_.path());
  const std::string keeping = "tune --here --quick --mpi openmpi -p 2 --keep " + kept_.path() + " 2>&1";
  {
    const Variable hanging("FAKE", "hang");
    // In the foreground timeout(1) sends one signal, not two. A second one may stop the search for leaks forever.
    const std::string for_3_s = "exec timeout --foreground --preserve-status -s INT 3 " CIRCOLL_CLI " ";
    std::FILE* const pipe = popen((for_3_s + keeping).c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::string text;
    for (int c = 0; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 1) << text;
    EXPECT_TRUE(contains(text, "interrupted; no profile was written; 'circoll tune --here --keep ")) << text;
    EXPECT_TRUE(no_profile());
    for (const auto& entry : fs::directory_iterator(kept_.path())) {
      EXPECT_FALSE(entry.path().string().ends_with(".json")) << entry.path();
    }
  }
  ASSERT_EQ(run(keeping).exit_code, 0);
  const long before = launches();
  const CommandResult again = run(keeping);
  ASSERT_EQ(again.exit_code, 0) << again.out;
  EXPECT_EQ(launches(), before);  // everything was there
  // A file that is damaged is measured anew.
  for (const auto& entry : fs::directory_iterator(kept_.path())) {
    if (entry.path().string().ends_with("-1.json")) fs::resize_file(entry.path(), 100);
  }
  ASSERT_EQ(run(keeping).exit_code, 0);
  EXPECT_EQ(launches(), before + 1);
}

TEST_F(Here, SaysInASentenceWhatIsMissing) {
  const auto says = [&](const std::string& command, const std::string& sentence) {
    const CommandResult outcome = run(command);
    EXPECT_NE(outcome.exit_code, 0) << outcome.out;
    EXPECT_TRUE(contains(outcome.out, sentence)) << outcome.out;
    EXPECT_TRUE(no_profile());
  };
  with_own_name(bin_.path());
  {
    const Variable failing("FAKE", "fail");
    says(quick_, "circoll-bench.openmpi ended with exit code 3: the fabric is on fire\n");
  }
  {
    const Variable alone("FAKE", "strangers");
    says(quick_, "that do not find each other: it is the launcher of another MPI");
  }
  {
    const Variable no_config("XDG_CONFIG_HOME", std::nullopt), no_home("HOME", std::nullopt);
    says(quick_, "circoll: there is no home: neither XDG_CONFIG_HOME nor HOME is set; name the profile's file by -o");
    const std::string file = config_.path() + "/own.json";
    EXPECT_EQ(run("tune --here --quick --mpi openmpi -p 2 -o " + file + " 2>&1").exit_code, 0);
    EXPECT_TRUE(fs::exists(file));
  }
  {
    const Variable unwritable("XDG_CONFIG_HOME", "/proc/none");
    says(quick_, "circoll: the directory '/proc/none/circoll/profiles' cannot be made: ");
  }
  {
    const Variable empty("PATH", kept_.path());
    says(quick_, "circoll: no launcher of Open MPI is on PATH; ");
    says("tune --mpi mpich 2>&1", "circoll: no launcher of MPICH is on PATH; ");
  }
  says("tune --here x.json 2>&1", "circoll: --here measures this node, and takes no files");
  if (geteuid() == 0) {
    const Variable careful("OMPI_ALLOW_RUN_AS_ROOT", std::nullopt);
    says(quick_, "starts nothing for root; be another user, or set OMPI_ALLOW_RUN_AS_ROOT=1");
  }
  // A program that is alone in its directory has no bench beside it.
  const TemporaryDirectory alone;
  fs::copy_file(CIRCOLL_CLI, alone.path() + "/circoll");
  fs::remove(bin_.path() + "/circoll-bench.openmpi");
  const Variable path("PATH", bin_.path() + ":/usr/bin:/bin");
  std::FILE* const pipe = popen((alone.path() + "/circoll " + quick_).c_str(), "r");
  std::string text;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  EXPECT_NE(pclose(pipe), 0);
  EXPECT_TRUE(contains(text, "circoll-bench.openmpi is neither beside this circoll nor on PATH")) << text;
}

nlohmann::json finding(const nlohmann::json& findings, const std::string& about, const std::string& says) {
  for (const auto& one : findings) {
    if (one.at("about") == about && one.at("says").get<std::string>().find(says) != std::string::npos) return one;
  }
  return nullptr;
}

TEST_F(Here, DoctorSaysWhatAutoGoesBy) {
  with_own_name(bin_.path());
  const std::string doctor = "doctor --mpi openmpi -p 2 --json";
  auto json = nlohmann::json::parse(run(doctor).out);
  ASSERT_EQ(json.at("libraries").size(), 1U);
  EXPECT_EQ(json.at("libraries")[0].at("library"), "Open MPI 9.9.9");
  auto none =
      finding(json.at("libraries")[0].at("findings"), "profile", "auto is the model's choice, since there is none");
  EXPECT_EQ(none.at("todo"), "circoll tune --here --mpi openmpi -p 2");
  EXPECT_FALSE(finding(json.at("libraries")[0].at("findings"), "memory", "not read directly, since Yama").is_null());
  ASSERT_EQ(run(quick_).exit_code, 0);
  config_.write("circoll/profiles/other.json", profile_text({.library = "MPICH 4", .processor = processor_name()}));
  json = nlohmann::json::parse(run(doctor).out);
  const auto& library = json.at("libraries")[0];
  EXPECT_EQ(library.at("profile"), profile());
  EXPECT_FALSE(finding(library.at("findings"), "profile", "it is for MPICH 4, not Open MPI 9.9.9").is_null());
  EXPECT_EQ(library.at("auto").size(), 12U);
  EXPECT_TRUE(library.at("auto")[0].at("reason").get<std::string>().starts_with("profile ")) << library;
  EXPECT_TRUE(contains(run("doctor --mpi openmpi -p 5").out, "has nothing for 5 ranks")) << library;
  config_.write("circoll/profiles/zz.json", "{");
  const CommandResult damaged = run(doctor);
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_EQ(
      finding(nlohmann::json::parse(damaged.out).at("libraries")[0].at("findings"), "profile", "damaged").at("weight"),
      "wrong");
}

TEST_F(Here, DoctorNamesRuntimesOfGpus) {
  with_own_name(bin_.path());
  const auto says = [&](const std::string& words) {
    const auto json = nlohmann::json::parse(run("doctor --mpi openmpi --json").out);
    return finding(json.at("libraries")[0].at("findings"), "devices", words);
  };
  EXPECT_EQ(says("no runtime of GPUs is loaded").at("weight"), "good");
  const Variable loaded("FAKE_DEVICES",
                        R"([{"name": "CUDA", "unused": ""}, {"name": "Level Zero", "unused": "has no driver"}])");
  EXPECT_EQ(says("Level Zero is loaded, but has no driver: calls are served").at("weight"), "good");
  const auto cuda = says("CUDA is loaded: ranks agree about memory of GPUs in each blocking call");
  EXPECT_EQ(cuda.at("weight"), "note");
  EXPECT_TRUE(contains(cuda.at("todo"), "CIRCOLL_DEVICE_MEMORY=off, if")) << cuda;
  {
    const Variable on("CIRCOLL_DEVICE_MEMORY", "on");
    EXPECT_EQ(says("CIRCOLL_DEVICE_MEMORY is on").at("weight"), "note");
  }
  const Variable off("CIRCOLL_DEVICE_MEMORY", "off");
  EXPECT_EQ(says("CIRCOLL_DEVICE_MEMORY is off").at("weight"), "good");
  EXPECT_TRUE(says("CUDA").is_null());
}

TEST_F(Here, DoctorFindsWhatIsWrong) {
  with_own_name(bin_.path());
  {
    const Variable misspelt("CIRCOLL_PROFLIE", "off");
    const CommandResult outcome = run("doctor --mpi openmpi");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_TRUE(contains(outcome.out, "CIRCOLL_PROFLIE is set and is not one of Circoll's\n")) << outcome.out;
    EXPECT_TRUE(contains(outcome.out, "-> unset it, or was CIRCOLL_PROFILE meant?\n")) << outcome.out;
  }
  {
    const Variable failing("FAKE", "fail");
    const CommandResult outcome = run("doctor --mpi openmpi");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_TRUE(contains(outcome.out, "ended with exit code 3: the fabric is on fire")) << outcome.out;
  }
  {
    const Variable off("CIRCOLL_PROFILE", "off");
    EXPECT_TRUE(contains(run("doctor --mpi openmpi").out, "since CIRCOLL_PROFILE is off"));
  }
  const Variable empty("PATH", kept_.path());
  const CommandResult outcome = run("doctor");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(contains(outcome.out, "no launcher of Open MPI or MPICH is on PATH\n")) << outcome.out;
}

}  // namespace
}  // namespace circoll
