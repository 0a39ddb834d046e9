// Results of PICO: texts, names, and directories, by the library and by `circoll import`.
#include "measured/pico.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "circoll/error.hpp"
#include "measured/measurement.hpp"
#include "support/command.hpp"

namespace circoll {
namespace {

namespace fs = std::filesystem;
using measured::PicoTime;

const std::string metadata_head =
    "timestamp,test_id,nnodes,tasks_per_node,collective_type,mpi_lib,mpi_lib_version,gpu_awareness,notes\n";

/// A directory of results that is removed in the end.
class Results {
 public:
  Results() : path_(fs::path(testing::TempDir()) / "circoll_pico") {
    fs::remove_all(path_), fs::create_directories(path_);
  }
  ~Results() { fs::remove_all(path_); }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string iterations(int count, int nanoseconds) {
  std::string text = "highest\n";
  for (int i = 0; i < count; ++i) text += std::to_string(nanoseconds + (i < count / 10 ? 1000000 : i % 3)) + "\n";
  return text;
}

PicoTime time_of(const std::string& collective, const std::string& algorithm, Count elements, Rank nodes = 8) {
  return {.job = {.system = "here", .stamp = "now", .nodes = nodes, .mpi = "OMPI 4.1.6"},
          .collective = collective,
          .algorithm = algorithm,
          .type = "int32",
          .elements = elements,
          .reps = 10,
          .median_s = 1e-5};
}

std::string name_of(const std::string& collective, const std::string& algorithm, bool inside_as_own) {
  return measured::names_of_pico(time_of(collective, algorithm, 1024), inside_as_own).algorithm;
}

TEST(Pico, NamesOfFilesAreRead) {
  const auto ring = measured::pico_file_name("1024_ring_over_int32.csv");
  ASSERT_TRUE(ring);
  EXPECT_EQ(ring->elements, 1024);
  EXPECT_EQ(ring->algorithm, "ring_over");
  EXPECT_EQ(ring->element_bytes, 4);
  EXPECT_EQ(measured::pico_file_name("8_binomial_ompi_double.csv")->element_bytes, 8);
  EXPECT_EQ(measured::pico_file_name("8_binomial_ompi_double.csv")->type, "float64");
  EXPECT_EQ(measured::pico_file_name("8_binomial_ompi_unsigned_char.csv")->algorithm, "binomial_ompi");
  EXPECT_EQ(measured::pico_file_name("8_binomial_ompi.csv")->algorithm, "binomial_ompi");  // as older versions wrote it
  for (const char* other :
       {"alloc.csv", "1024_ring_over_int32.txt", "_ring.csv", "8_.csv", "99999999999999999999_x.csv",
        "aggregated_results_summary.csv", "8_ring_over_int32_instrument.csv", ""}) {
    EXPECT_FALSE(measured::pico_file_name(other)) << other;
  }
}

TEST(Pico, TheFirstTenthOfTheIterationsDoesNotCount) {
  const PicoTime time = measured::pico_iterations_from_csv(iterations(100, 5000), "file");
  EXPECT_EQ(time.reps, 90);
  EXPECT_DOUBLE_EQ(time.median_s, 5001e-9);
  EXPECT_LE(time.low_s, time.median_s);
  EXPECT_GE(time.high_s, time.median_s);
  // One column for each rank may follow.
  EXPECT_DOUBLE_EQ(measured::pico_iterations_from_csv("highest,rank0,rank1\n7,7,3\n", "file").median_s, 7e-9);
  EXPECT_EQ(measured::pico_iterations_from_csv("highest\n", "file").reps, 0);
  for (const char* wrong : {"", "lowest\n1\n", "highest\nfast\n", "highest\n1e300\n", "highest\nnan\n"}) {
    EXPECT_THROW((void)measured::pico_iterations_from_csv(wrong, "file"), Error) << wrong;
  }
}

TEST(Pico, AlgorithmsHaveNamesOfCircollBench) {
  EXPECT_EQ(name_of("ALLREDUCE", "ring_over", false), "ring");
  EXPECT_EQ(name_of("ALLREDUCE", "ring_ompi", false), "openmpi/ring");
  EXPECT_EQ(name_of("ALLREDUCE", "ring_ompi", true), "ring");
  EXPECT_EQ(name_of("ALLREDUCE", "default_mpich", true), "native");
  EXPECT_EQ(name_of("ALLTOALL", "modified_bruck_ompi", false), "openmpi/modified_bruck");
  EXPECT_EQ(name_of("SCATTER", "linear_nb_ompi", true), "linear");
  EXPECT_EQ(name_of("BCAST", "split_binary_ompi", true), "split_binary:segments=1");
  EXPECT_EQ(name_of("SCATTER", "linear_nb_ompi", false), "");  // openmpi/basic_linear is another one
  EXPECT_EQ(name_of("REDUCE_SCATTER", "recursive_halving_mpich", false), "mpich/recursive_halving");
  EXPECT_EQ(name_of("REDUCE_SCATTER", "recursive_halving_over", false), "recursive_halving");
  // MPICH's nonblocking collectives choose for themselves.
  EXPECT_EQ(name_of("ALLREDUCE", "non_blocking_mpich", true), "");
  EXPECT_EQ(name_of("ALLREDUCE", "ring_elsewhere", true), "");
  EXPECT_EQ(name_of("GATHER", "ring_over", true), "");  // Circoll has no such gather
  EXPECT_FALSE(measured::names_of_pico(time_of("ALLREDUCE_FAST", "ring_over", 8), true).collective);
  // With fewer elements than ranks a library uses another algorithm than the ring.
  EXPECT_EQ(measured::names_of_pico(time_of("ALLREDUCE", "ring_ompi", 7), true).algorithm, "");
}

TEST(Pico, BineFormsOfTheSameShapeHaveNames) {
  EXPECT_EQ(name_of("ALLREDUCE", "bine_lat_over", true), "bine_whole");
  EXPECT_EQ(name_of("ALLREDUCE", "bine_bdw_remap_over", true), "bine");
  EXPECT_EQ(name_of("ALLGATHER", "bine_2_blocks_over", true), "bine");
  EXPECT_EQ(name_of("REDUCE_SCATTER", "bine_permute_remap_over", true), "bine");
  for (const char* rooted : {"BCAST", "REDUCE"}) EXPECT_EQ(name_of(rooted, "bine_lat_over", true), "bine");
  for (const char* rooted : {"GATHER", "SCATTER"}) EXPECT_EQ(name_of(rooted, "bine_over", true), "bine");
  // A scatter and an allgather, blocks one by one, and another alltoall.
  EXPECT_EQ(name_of("BCAST", "bine_bdw_remap_over", true), "");
  EXPECT_EQ(name_of("ALLGATHER", "bine_block_by_block_over", true), "");
  EXPECT_EQ(name_of("ALLTOALL", "bine_over", true), "");
}

/// Circoll's bcast/scatter_allgather has the ring in its second half, and PICO's has recursive doubling there.
TEST(Pico, ScatterAllgatherIsTheOneWithTheRing) {
  for (const bool inside_as_own : {false, true}) {
    EXPECT_EQ(name_of("BCAST", "scatter_allgather_over", inside_as_own), "");
    EXPECT_EQ(name_of("BCAST", "scatter_allgather_ompi", inside_as_own), "");
    EXPECT_EQ(name_of("BCAST", "scatter_recursive_doubling_allgather_mpich", inside_as_own), "");
    EXPECT_EQ(name_of("BCAST", "scatter_allgather_ring_over", inside_as_own), "scatter_allgather");
  }
  EXPECT_EQ(name_of("BCAST", "scatter_allgather_ring_ompi", true), "scatter_allgather");
  EXPECT_EQ(name_of("BCAST", "scatter_allgather_ring_ompi", false), "openmpi/scatter_allgather_ring");
  EXPECT_EQ(name_of("BCAST", "scatter_ring_allgather_mpich", true), "scatter_allgather");
  EXPECT_EQ(name_of("BCAST", "scatter_ring_allgather_mpich", false), "mpich/scatter_ring_allgather");
  // With fewer elements than ranks Open MPI sends from the root to everybody.
  EXPECT_EQ(measured::names_of_pico(time_of("BCAST", "scatter_allgather_ring_ompi", 7), true).algorithm, "");
}

/// PICO's recursive_distance_doubling moves p - 1 blocks and then one, and Circoll's recursive_doubling many more.
TEST(Pico, RecursiveDistanceDoublingIsNoAlgorithmOfCircoll) {
  EXPECT_EQ(name_of("REDUCE_SCATTER", "recursive_distance_doubling_over", true), "");
  EXPECT_EQ(name_of("REDUCE_SCATTER", "recursive_distance_doubling_over", false), "");
  EXPECT_EQ(name_of("REDUCE_SCATTER", "recursive_doubling_mpich", false), "mpich/recursive_doubling");
}

TEST(Pico, TheFileIsThatOfCircollBench) {
  std::vector<PicoTime> times{time_of("ALLGATHER", "ring_over", 1024), time_of("ALLGATHER", "ring_ompi", 1024),
                              time_of("ALLREDUCE", "default_ompi", 1024), time_of("ALLGATHER", "ring_over", 4),
                              time_of("ALLGATHER", "sparbit_over", 1024)};
  times[1].median_s = 5e-6;
  times[2].median_s = 7e-6;
  const measured::PicoImport imported = measured::import_pico(times, true);
  EXPECT_EQ(imported.rows, 2U);
  EXPECT_EQ(imported.left_out.size(), 2U);
  ASSERT_EQ(imported.files.size(), 1U);
  const Launch launch = launch_from_json(imported.files.begin()->second, "file");
  EXPECT_EQ(launch.mpi, "openmpi 4.1.6");
  ASSERT_EQ(launch.rows.size(), 2U);
  EXPECT_EQ(launch.rows[1].algorithm, "ring");
  EXPECT_EQ(launch.rows[1].bytes, 1024 * 4 / 8);    // a rank's block
  EXPECT_DOUBLE_EQ(launch.rows[1].median_s, 1e-5);  // Circoll's own ring, although the library's is faster
  EXPECT_EQ(launch.rows[0].algorithm, "native");
  EXPECT_EQ(launch.rows[0].bytes, 4096);
  EXPECT_EQ(measured::import_pico(times, false).rows, 3U);
}

/// On LUMI some jobs ran the library's default where they say `recursive_doubling_mpich`.
TEST(Pico, AFalseLabelOfTheLibraryIsLeftOut) {
  const auto rows_with = [](double default_s, double inside_s, double over_s) {
    std::vector<PicoTime> times{time_of("ALLREDUCE", "default_mpich", 1024),
                                time_of("ALLREDUCE", "recursive_doubling_mpich", 1024),
                                time_of("ALLREDUCE", "recursive_doubling_over", 1024)};
    times[0].median_s = default_s;
    times[1].median_s = inside_s;
    times[2].median_s = over_s;
    const std::size_t rows = measured::import_pico(times, false).rows;
    std::swap(times[1], times[2]);
    EXPECT_EQ(measured::import_pico(times, false).rows, rows);
    return rows;
  };
  EXPECT_EQ(rows_with(356.4e-6, 355.5e-6, 829e-6), 2U);
  EXPECT_EQ(rows_with(355.5e-6, 356.4e-6, 150e-6), 2U);
  EXPECT_EQ(rows_with(356.4e-6, 355.5e-6, 360e-6), 3U);  // the default is recursive doubling
  EXPECT_EQ(rows_with(356.4e-6, 600e-6, 829e-6), 3U);
}

/// Three jobs of Leonardo have the same times for allgather_reduce and Rabenseifner's algorithm.
TEST(Pico, LabelsOfOneAlgorithmAreLeftOut) {
  const auto rows_with = [](const std::vector<double>& ratios) {
    std::vector<PicoTime> times;
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      for (const char* const label : {"rabenseifner_ompi", "allgather_reduce_ompi", "rabenseifner_over"}) {
        times.push_back(time_of("ALLREDUCE", label, Count{1024} << i));
      }
      times[times.size() - 2].median_s *= ratios[i];
    }
    times.push_back(time_of("ALLREDUCE", "allgather_reduce_ompi", 16));        // alone in its cell
    times.push_back(time_of("ALLREDUCE", "allgather_reduce_ompi", 1024, 16));  // in another job
    const measured::PicoImport imported = measured::import_pico(times, true);
    std::size_t left_out = 0;
    for (const auto& [why, count] : imported.left_out) left_out += count;
    EXPECT_EQ(left_out, imported.rows == ratios.size() + 1 ? 2 * ratios.size() + 1 : 0);
    return imported.rows;
  };
  EXPECT_EQ(rows_with({1.001, 0.999, 1.07}), 4U);  // rabenseifner_over, and the other job
  EXPECT_EQ(rows_with({1.001, 1.5, 3}), 8U);       // alike in one cell by chance
  EXPECT_EQ(rows_with({1.001, 1.5}), 6U);
}

TEST(Pico, TypesAndJobsStayApart) {
  std::vector<PicoTime> times{time_of("ALLREDUCE", "ring_over", 1024), time_of("ALLREDUCE", "ring_over", 512),
                              time_of("ALLREDUCE", "ring_over", 1024), time_of("ALLREDUCE", "ring_over", 2048)};
  times[1].type = "float64";
  times[1].element_bytes = 8;
  times[2].job.mpi = "customOMPI 4.1.6";  // the same name of a file, and the same cell
  times[2].median_s = 2e-5;
  times[3].on_device = true;
  const measured::PicoImport imported = measured::import_pico(times, false);
  ASSERT_EQ(imported.files.size(), 2U);
  EXPECT_EQ(imported.rows, 2U);
  EXPECT_EQ(imported.left_out.at("times in the memory of GPUs"), 1U);
  const auto doubles = nlohmann::json::parse(imported.files.at("here-now-8x1-openmpi-4.1.6-float64.json"));
  EXPECT_EQ(doubles["type"], "float64");
  EXPECT_EQ(doubles["rows"][0]["bytes"], 4096);
  const auto whole = nlohmann::json::parse(imported.files.at("here-now-8x1-openmpi-4.1.6.json"));
  EXPECT_EQ(whole["rows"].size(), 1U);
  EXPECT_DOUBLE_EQ(whole["rows"][0]["median_us"], 10.0);
}

TEST(Pico, TablesOfMediansAreRead) {
  const std::string head =
      "system,stamp,test,nodes,ranks_per_node,mpi,version,collective,algorithm,bytes,iterations,median_ns\n";
  const auto times = measured::pico_times_from_csv(
      head + "lumi,s,0,16,2,CRAY_MPICH,8.1.29,allreduce,ring_over,4096,90,12500\r\n", "table");
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times[0].elements, 1024);
  EXPECT_DOUBLE_EQ(times[0].median_s, 12.5e-6);
  EXPECT_EQ(times[0].job.ranks_per_node, 2);
  EXPECT_EQ(times[0].type, "int32");
  const std::string own =
      "collective_type,buffer_size,algo_name,datatype,median,nnodes,tasks_per_node,n_iter,system,timestamp,mpi_lib,"
      "mpi_lib_version,gpu_awareness\n";
  const std::string line = "ALLREDUCE,4096,ring_over,double,9000,8,1,80,lumi,s,CRAY_MPICH,8.1.29,";
  const auto summary = measured::pico_times_from_csv(own + line + "no\n" + line + "yes\n", "summary");
  ASSERT_EQ(summary.size(), 2U);
  EXPECT_EQ(summary[0].type, "float64");
  EXPECT_EQ(summary[0].elements, 512);
  EXPECT_FALSE(summary[0].on_device);
  EXPECT_TRUE(summary[1].on_device);
  EXPECT_THROW((void)measured::pico_times_from_csv(own + "ALLREDUCE,4096,a_over,quad,9,8,1,8,l,s,M,8,no\n", "t"),
               Error);
  for (const char* wrong :
       {"lumi,s,0,0,2,M,8,allreduce,ring_over,4096,90,12500\n", "lumi,s,0,16\n",
        "lumi,s,0,16,2,M,8,allreduce,ring_over,4096,90,-1\n", "lumi,s,0,16,2,M,8,allreduce,ring_over,4096.5,90,1\n"}) {
    EXPECT_THROW((void)measured::pico_times_from_csv(head + wrong, "table"), Error) << wrong;
  }
}

TEST(Pico, DirectoriesAreImportedAndTuned) {
  const Results results;
  results.write("here_metadata.csv",
                metadata_head + "t1,0,8,1,ALLREDUCE,OMPI,4.1.6,no,\"quiet, at night\"\n" +
                    "t1,1,8,1,BCAST,OMPI,4.1.6,yes,null\n" + "t2,0,8,1,BCAST,OMPI,4.1.6,no,null\n" +
                    "t1,../..,8,1,BCAST,OMPI,4.1.6,no,null\n" + "t1,,8,1,ALLREDUCE,OMPI,4.1.6,no,null\n" +
                    ",,8,1,ALLREDUCE,OMPI,4.1.6,no,null\n" + "t1,..,8,1,BCAST,OMPI,4.1.6,no,null\n");
  results.write("here/t1/0/256_ring_over_int32.csv", iterations(100, 9000));
  results.write("here/t1/0/256_recursive_doubling_over_int32.csv", iterations(100, 4000));
  results.write("here/t1/0/65536_ring_over_int32.csv", iterations(100, 20000));
  results.write("here/t1/0/65536_recursive_doubling_over_int32.csv", iterations(100, 40000));
  results.write("here/t1/0/512_ring_over_int32.csv", "highest\nfast\n");
  results.write("here/t1/0/alloc.csv", "MPI_Rank,allocation\n0,node1\n");
  const std::string out = (results.path() / "out").string();
  const CommandResult imported = run("import pico " + results.path().string() + " -o " + out);
  ASSERT_EQ(imported.exit_code, 0) << imported.out;
  EXPECT_TRUE(contains(imported.out, "4 of 4 times are in 1 files")) << imported.out;
  EXPECT_TRUE(contains(imported.out, "tests in the memory of GPUs")) << imported.out;
  EXPECT_TRUE(contains(imported.out, "whose directory is not there")) << imported.out;
  EXPECT_TRUE(contains(imported.out, "     4  no directory can have the name of the test")) << imported.out;
  EXPECT_TRUE(contains(imported.out, "512_ring_over_int32.csv:2: 'fast' is no number")) << imported.out;
  const CommandResult rules = run("tune " + out + "/here-t1-8x1-openmpi-4.1.6.json");
  ASSERT_EQ(rules.exit_code, 0) << rules.out;
  const auto json = nlohmann::json::parse(rules.out);
  EXPECT_EQ(json["allreduce"][0]["use"], "recursive_doubling");
  EXPECT_EQ(json["allreduce"][1]["use"], "ring");
}

TEST(Pico, OtherDirectoriesAreRefused) {
  const Results results;
  for (const std::string& path : {results.path().string(), std::string("/no/such/directory")}) {
    const CommandResult refused = run("import pico " + path + " -o " + (results.path() / "out").string() + " 2>&1");
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_TRUE(contains(refused.out, path)) << refused.out;
  }
  EXPECT_EQ(run("import osu . -o out 2>&1").exit_code, 2);
}

TEST(Machines, OfPublicSystemsHaveNames) {
  for (const char* const name : {"leonardo", "lumi"}) {
    const CommandResult explained = run(std::string("explain scatter -p 256 --bytes 512Mi --machine ") + name);
    EXPECT_EQ(explained.exit_code, 0) << explained.out;
    EXPECT_TRUE(contains(explained.out, std::string("machine    ") + name)) << explained.out;
  }
  const CommandResult unknown = run("explain scatter -p 8 --machine no_such_machine 2>&1");
  EXPECT_EQ(unknown.exit_code, 2) << unknown.out;
  EXPECT_TRUE(contains(unknown.out, "leonardo, lumi")) << unknown.out;
  EXPECT_EQ(run("explain scatter -p 8 --machine ./leonardo 2>&1").exit_code, 2);  // a path is no name
}

}  // namespace
}  // namespace circoll
