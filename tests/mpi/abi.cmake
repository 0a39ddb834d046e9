# Tests over the standard ABI: one binary of each program, one library and one drop-in, over each MPI library that has
# the ABI. Each has a directory here with its libmpi_abi.so.1. LD_LIBRARY_PATH names the one that the loader takes.
set(abi_implementations "")
get_filename_component(abi_library_directory ${CIRCOLL_ABI_LIBRARY} DIRECTORY)
set(module_openmpi ompi-c)
set(module_mpich mpich)
foreach(name openmpi mpich)
  # Debian's files of both lie in one directory; elsewhere each lies beside its own libmpi.
  file(GLOB found ${abi_library_directory}/libmpi_abi_${name}.so.?.*)
  if(NOT found)
    pkg_get_variable(directory ${module_${name}} libdir)
    file(GLOB found ${directory}/libmpi_abi.so.1)
  endif()
  if(found)
    list(GET found 0 library)
    set(directory ${CMAKE_CURRENT_BINARY_DIR}/abi_${name})
    file(MAKE_DIRECTORY ${directory})
    file(CREATE_LINK ${library} ${directory}/libmpi_abi.so.1 SYMBOLIC)
    list(APPEND abi_implementations ${name})
    set(abi_below_${name} LD_LIBRARY_PATH=${directory})
  endif()
endforeach()
message(STATUS "The standard ABI is tested over: ${abi_implementations}")

# With MPICH's ABI there is no MPIX_Async_start, and MPICH spins in ucp_worker_progress.
add_library(circoll_yield_ucx MODULE ${PROJECT_SOURCE_DIR}/dev/yield.c)
target_link_libraries(circoll_yield_ucx PRIVATE ${CMAKE_DL_LIBS})

add_executable(mpi_test_abi ${mpi_test_sources} c_abi.c)
target_include_directories(mpi_test_abi PRIVATE ${PROJECT_SOURCE_DIR}/core ${PROJECT_SOURCE_DIR}/tests
                                                ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(mpi_test_abi PRIVATE circoll_abi circoll_flags ${CMAKE_DL_LIBS})
foreach(program all_collectives nonblocking large_counts large_types communicators many_communicators requests threads
        held_arrays counted_calls)
  add_executable(${program}_abi programs/${program}.c)
  target_link_libraries(${program}_abi PRIVATE PkgConfig::mpi_abi Threads::Threads)
endforeach()

foreach(below IN LISTS abi_implementations)
  set(yield $<TARGET_FILE:circoll_yield_ucx>)
  set(environment ${openmpi_environment} ${abi_below_${below}})
  # abi_test(SUFFIX SECONDS COMMAND...)
  function(abi_test suffix seconds)
    add_test(NAME mpi_abi_${below}_${suffix} COMMAND ${ARGN})
    set_tests_properties(mpi_abi_${below}_${suffix} PROPERTIES TIMEOUT ${seconds} RUN_SERIAL ON LABELS mpi ENVIRONMENT "${environment}")
  endfunction()
  set(under env)
  if(below STREQUAL mpich)
    set(under env LD_PRELOAD=${yield})
  endif()
  # The library.
  foreach(np 1 2 4 5)
    abi_test(np${np} 300 ${${below}_launch} ${np} ${under} $<TARGET_FILE:mpi_test_abi>)
  endforeach()
  foreach(np 3 5)
    abi_test(shared_np${np} 300 ${${below}_launch} ${np} ${under} $<TARGET_FILE:mpi_test_abi> --shared-world)
  endforeach()
  # The drop-in. `circoll run` finds it by the libraries that the program is linked to.
  set(dropin $<TARGET_FILE:circoll_dropin_abi>)
  foreach(np 1 2 4 5)
    abi_test(dropin_np${np} 120 ${CMAKE_CURRENT_SOURCE_DIR}/dropin_test.sh ${below} ${np} ${dropin} ${yield} $<TARGET_FILE:circoll_cli>
             $<TARGET_FILE:all_collectives_abi>)
    abi_test(nonblocking_np${np} 180 ${CMAKE_CURRENT_SOURCE_DIR}/nonblocking_test.sh ${below} ${np} ${dropin} ${yield}
             $<TARGET_FILE:circoll_cli> $<TARGET_FILE:nonblocking_abi>)
  endforeach()
  abi_test(large_counts 120 ${CMAKE_CURRENT_SOURCE_DIR}/dropin_test.sh ${below} 3 ${dropin} ${yield} $<TARGET_FILE:circoll_cli>
           $<TARGET_FILE:large_counts_abi>)
  abi_test(reporting_np3 120 python3 ${CMAKE_CURRENT_SOURCE_DIR}/reporting_test.py ${below} 3 ${dropin} ${yield}
           $<TARGET_FILE:counted_calls_abi>)
  # same_output(PROGRAM NP SERVED)
  function(abi_same_output program np served)
    abi_test(${program}_np${np} 120 ${CMAKE_CURRENT_SOURCE_DIR}/same_output_test.sh ${below} ${np} ${dropin} ${yield} ${served}
             $<TARGET_FILE:${program}_abi> ${ARGN})
  endfunction()
  abi_same_output(communicators 5 ${all_collectives})
  abi_same_output(many_communicators 2 allreduce,scan,)
  abi_same_output(threads 3 allreduce,allgatherv,alltoall,gatherv,bcast,scan,barrier)
  abi_same_output(requests 3 allreduce,bcast)
  abi_same_output(held_arrays 3 reduce_scatter,allgatherv,gatherv,scatterv,alltoallv)
  abi_same_output(large_types 3 ${all_collectives})
  # Random programs.
  function(abi_torture suffix np)
    abi_test(torture_${suffix} 100 ${${below}_launch} ${np} env LD_PRELOAD=${dropin}:${yield} $<TARGET_FILE:circoll_torture_abi>
             --seconds 6 --patience 40 ${ARGN})
  endfunction()
  foreach(np 1 2 4 5)
    abi_torture(np${np} ${np} --seed ${np})
  endforeach()
  abi_torture(threads 3 --seed 13 --threads multiple)
  # A drop-in for a library itself under a program of the ABI, and the ABI's under a program of the library.
  if(TARGET circoll_dropin_${below})
    function(abi_wrong_dropin right wrong)
      abi_test(wrong_dropin_${wrong} 120 ${CMAKE_CURRENT_SOURCE_DIR}/wrong_dropin_test.sh ${below} 3
               $<TARGET_FILE:circoll_dropin_${right}> $<TARGET_FILE:circoll_dropin_${wrong}> ${yield}
               $<TARGET_FILE:circoll_cli> $<TARGET_FILE:all_collectives_${right}>)
    endfunction()
    abi_wrong_dropin(abi ${below})
    abi_wrong_dropin(${below} abi)
  endif()
  abi_test(compare 300 python3 ${CMAKE_CURRENT_SOURCE_DIR}/compare_abi_test.py ${below} $<TARGET_FILE:circoll_cli> ${yield}
           $<TARGET_FILE:counted_calls_abi>)
  abi_test(bench 120 ${${below}_launch} 3 ${under} $<TARGET_FILE:circoll_bench_abi> --check --bytes 8,64Ki --seconds 0.01)
endforeach()
