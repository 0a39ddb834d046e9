# The library over MPI: its own tests, in each way that messages may go. Called for each MPI, whose name is ${name}.
function(executor_tests)
  add_executable(mpi_test_${name} ${mpi_test_sources} c_abi.c c_requests.c)
  target_include_directories(mpi_test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/core ${PROJECT_SOURCE_DIR}/tests
                                                     ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(mpi_test_${name} PRIVATE circoll_${name} circoll_flags ${CMAKE_DL_LIBS})
  foreach(np IN LISTS ${name}_np_list)
    mpi_test(mpi_${name}_np${np} 300 SERIAL ENVIRONMENT ${${name}_environment} COMMAND ${${name}_launch} ${np}
             $<TARGET_FILE:mpi_test_${name}>)
  endforeach()

  # Communicators that share a carrier, as under the drop-in.
  set(np ${${name}_shared_np})
  mpi_test(mpi_${name}_shared_np${np} 300 SERIAL ENVIRONMENT ${${name}_environment} COMMAND ${${name}_launch} ${np}
           $<TARGET_FILE:mpi_test_${name}> --shared-world)
  # Messages inside the node, by each way; and by MPI alone, or MPI between nodes of two ranks.
  foreach(way IN LISTS ${name}_ways)
    string(REPLACE "=" "_" suffix ${way})
    mpi_test(mpi_${name}_${suffix}_np3 300 SERIAL ENVIRONMENT ${${name}_environment} COMMAND ${${name}_launch} 3 env
             CIRCOLL_${way} $<TARGET_FILE:mpi_test_${name}> --shared-world)
  endforeach()
  # Messages that MPI refuses, in both ways.
  foreach(way "" --shared-world)
    foreach(np 2 3)
      mpi_test(mpi_${name}_given_up${way}_np${np} 120 ENVIRONMENT ${openmpi_environment} COMMAND ${${name}_launch} ${np} env
               CIRCOLL_NODE=off LD_PRELOAD=$<TARGET_FILE:circoll_delay_${name}>:${yield}
               $<TARGET_FILE:mpi_test_${name}> ${way} given_up)
      # These tests leave messages, over which MPI_Finalize crashes (library_faults, left_message). The verdict comes
      # before.
      if(name STREQUAL mpich AND mpi_mpich_VERSION VERSION_GREATER_EQUAL 4.1)
        set_tests_properties(mpi_${name}_given_up${way}_np${np} PROPERTIES
                             PASS_REGULAR_EXPRESSION "0 of 1 tests failed" FAIL_REGULAR_EXPRESSION "FAILED|not ok")
      endif()
    endforeach()
  endforeach()

  # The cache holds one plan, so that each call of another signature evicts the plan before.
  mpi_test(mpi_${name}_small_cache 60 SERIAL ENVIRONMENT ${${name}_environment} CIRCOLL_CACHE_BYTES=1 COMMAND
           ${${name}_launch} 3 $<TARGET_FILE:mpi_test_${name}> plan_cache)

  # The test needs gigabytes, so it runs by hand: `ctest -C huge -L huge`.
  mpi_test(mpi_${name}_huge 600 SERIAL LABELS huge CONFIGURATIONS huge ENVIRONMENT ${${name}_environment} COMMAND
           ${${name}_launch} 2 $<TARGET_FILE:mpi_test_${name}> huge)
endfunction()
