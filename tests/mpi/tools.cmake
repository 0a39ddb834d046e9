# The tests of tools that measure, and that evaluate measurements. Called for each MPI, whose name is ${name}.
function(tools_tests)
  # Report and trace say what the program did.
  mpi_program(counted_calls)
  foreach(np 1 3 4)
    mpi_test(reporting_${name}_np${np} 120 SERIAL COMMAND python3 ${here}/reporting_test.py ${name}
             ${np} ${dropin} ${yield} $<TARGET_FILE:counted_calls_${name}>)
  endforeach()

  # circoll hang finds the rank for which the others wait.
  mpi_program(hangs)
  foreach(run "all_collectives 3" "communicators 5" "errors 2" "threads 3" "requests 3" "many_communicators 2")
    separate_arguments(words UNIX_COMMAND ${run})
    list(POP_FRONT words program np)
    mpi_test(record_${name}_${program}_np${np} 120 SERIAL ENVIRONMENT CIRCOLL_RECORD=on QUIET=1 COMMAND
             ${here}/same_output_test.sh ${name} ${np} ${dropin} ${yield} - $<TARGET_FILE:${program}_${name}>)
  endforeach()
  mpi_test(hang_${name} 900 COMMAND python3 ${here}/hang_test.py ${name} ${dropin} ${yield} ${cli} $<TARGET_FILE:hangs_${name}>)
  # Traces of calls are played.
  mpi_test(whatif_${name} 300 SERIAL COMMAND python3 ${here}/whatif_test.py ${name}
           ${dropin} ${yield} ${cli} $<TARGET_FILE:counted_calls_${name}>)

  # Programs without and with Circoll, and tuning of the calls in a report: in shards, and by scripts.
  mpi_test(compare_${name} 300 SERIAL COMMAND python3 ${here}/compare_test.py ${name} 3 ${cli}
           $<TARGET_FILE:circoll_bench_${name}> ${yield} $<TARGET_FILE:counted_calls_${name}>)
  # The collectives of a program whose bits depend on the algorithm.
  mpi_program(bits)
  set(np 4)
  if(name STREQUAL mpich)
    set(np 3)
  endif()
  mpi_test(bits_compare_${name} 600 COMMAND python3 ${here}/bits_compare_test.py ${name} ${np} ${cli} ${yield}
           $<TARGET_FILE:bits_${name}>)
  mpi_test(slurm_${name} 300 SERIAL SKIPS COMMAND python3 ${here}/slurm_test.py ${name} ${cli}
           $<TARGET_FILE:circoll_bench_${name}> ${yield} $<TARGET_FILE:counted_calls_${name}>)

  # The drop-in and the bench find profiles, and one command writes them.
  if(TARGET circoll_bench_${name})
    mpi_test(dropin_${name}_profile 600 SERIAL COMMAND python3 ${here}/profile_test.py ${name}
             ${dropin} ${yield} ${cli}
             $<TARGET_FILE:circoll_bench_${name}> $<TARGET_FILE:all_collectives_${name}>)
  endif()

  # A job on several hosts measures their network.
  mpi_test(dropin_${name}_measured_network 300 SERIAL COMMAND python3 ${here}/measured_network_test.py ${name}
           ${dropin} ${yield} ${cli} $<TARGET_FILE:all_collectives_${name}>)

  # The report of circoll-bench about a run of its own.
  mpi_test(bench_${name} 450 SERIAL ENVIRONMENT ${${name}_environment} COMMAND python3
           ${here}/bench_test.py $<TARGET_FILE:circoll_bench_${name}> ${${name}_launch})

  # The algorithms inside the MPI library can be chosen and named, and are really used.
  set(native_sources ${PROJECT_SOURCE_DIR}/tools/bench/native)
  add_executable(native_algorithms_${name} programs/native_algorithms.cpp ${native_sources}/algorithms.cpp
                                           ${native_sources}/control_variables.cpp ${native_sources}/${name}.cpp)
  target_include_directories(native_algorithms_${name} PRIVATE ${PROJECT_SOURCE_DIR}/core ${PROJECT_SOURCE_DIR}/tools/bench)
  target_link_libraries(native_algorithms_${name} PRIVATE circoll_${name} circoll_flags)
  mpi_test(native_algorithms_${name} 300 SERIAL ENVIRONMENT ${${name}_environment} COMMAND python3
           ${here}/native_algorithms_test.py ${name} $<TARGET_FILE:circoll_bench_${name}>
           $<TARGET_FILE:native_algorithms_${name}> ${cli})

  # Measure, fit, choose.
  mpi_test(calibrate_${name} 120 SERIAL ENVIRONMENT ${${name}_environment} COMMAND
           ${here}/calibrate_test.sh ${cli} $<TARGET_FILE:circoll_bench_${name}>
           ${${name}_launch})
endfunction()
