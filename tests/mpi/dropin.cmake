# The drop-in under programs that know nothing of it. Called for each MPI, whose name is ${name}.
function(dropin_tests)
  # The drop-in under programs that know nothing of it.
  mpi_program(all_collectives)
  foreach(np 1 4 5)
    mpi_test(dropin_${name}_np${np} 120 COMMAND ${here}/dropin_test.sh ${name} ${np}
             ${dropin} ${yield} ${cli}
             $<TARGET_FILE:all_collectives_${name}>)
  endforeach()

  # Neighbourhood collectives on random graphs and grids, against the definition and the library's own.
  add_executable(neighbors_${name} programs/neighbors.cpp)
  target_link_libraries(neighbors_${name} PRIVATE PkgConfig::mpi_${name})
  target_compile_definitions(neighbors_${name} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  set(neighbors_np 3 5)  # on one rank they are native
  if(name STREQUAL mpich)
    set(neighbors_np 2 8)
  endif()
  foreach(np IN LISTS neighbors_np)
    mpi_test(dropin_${name}_neighbors_np${np} 120 COMMAND python3 ${here}/neighbors_test.py ${name} ${np}
             ${dropin} ${yield} $<TARGET_FILE:neighbors_${name}>)
  endforeach()

  # Sums whose bits depend on no algorithm.
  add_executable(exact_sums_${name} programs/exact_sums.cpp)
  target_link_libraries(exact_sums_${name} PRIVATE PkgConfig::mpi_${name})
  target_compile_definitions(exact_sums_${name} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  set(np 3)
  if(name STREQUAL mpich)
    set(np 2)
  endif()
  mpi_test(dropin_${name}_exact_sums_np${np} 600 COMMAND python3 ${here}/exact_sums_test.py ${name} ${np}
           ${dropin} ${yield} $<TARGET_FILE:exact_sums_${name}>)

  # Exchanges whose blocks are all equal, or not.
  mpi_program(equal_blocks)
  mpi_test(dropin_${name}_equal_blocks 300 COMMAND python3 ${here}/equal_blocks_test.py ${name}
           ${dropin} ${yield} $<TARGET_FILE:equal_blocks_${name}>)

  # Nodes change places by the switches above them.
  mpi_test(dropin_${name}_topology 300 COMMAND python3 ${here}/topology_test.py ${name} ${dropin}
           ${yield} $<TARGET_FILE:all_collectives_${name}>)

  # Files of schedules in place of algorithms.
  mpi_test(dropin_${name}_schedule_files 300 COMMAND python3 ${here}/schedule_files_test.py ${name}
           ${dropin} ${yield} $<TARGET_FILE:all_collectives_${name}> $<TARGET_FILE:nonblocking_${name}> ${cli} ${PROJECT_SOURCE_DIR})

  # Nonblocking and persistent calls of a program that knows nothing of the drop-in.
  mpi_program(nonblocking)
  # MPICH's header declares MPI_STATUSES_IGNORE as an array of no elements.
  target_compile_options(nonblocking_${name} PRIVATE -Wno-stringop-overflow)
  foreach(np 1 3 4)
    mpi_test(nonblocking_${name}_np${np} 120 COMMAND ${here}/nonblocking_test.sh ${name} ${np}
             ${dropin} ${yield} ${cli}
             $<TARGET_FILE:nonblocking_${name}>)
  endforeach()

  # Allocations that fail inside calls.
  add_executable(failing_allocations_${name} programs/failing_allocations.cpp)
  target_link_libraries(failing_allocations_${name} PRIVATE PkgConfig::mpi_${name})
  target_compile_definitions(failing_allocations_${name} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  foreach(kind alike one fatal)
    mpi_test(failing_allocations_${name}_${kind} 100 COMMAND ${here}/failing_allocations_test.sh
             ${name} 2 ${dropin} ${yield}
             $<TARGET_FILE:failing_allocations_${name}> ${kind})
  endforeach()
  # One rank also runs the collectives in which ranks have different parts.
  mpi_test(failing_allocations_${name}_np1 60 COMMAND ${here}/failing_allocations_test.sh ${name} 1
           ${dropin} ${yield} $<TARGET_FILE:failing_allocations_${name}> alike)

  # The first calls on a communicator.
  mpi_program(few_calls)
  mpi_test(dropin_${name}_few_calls 120 COMMAND python3 ${here}/few_calls_test.py ${name}
           ${dropin} ${yield} $<TARGET_FILE:few_calls_${name}>)

  # Programs about what MPI says beyond results (docs/user/semantics.md): same_output(PROGRAM NP SERVED ARGUMENT...).
  function(same_output program np served)
    list(JOIN ARGN _ suffix)
    set(test dropin_${name}_${program}_np${np})
    if(ARGN)
      string(APPEND test _${suffix})
    endif()
    mpi_test(${test} 60 COMMAND ${here}/same_output_test.sh ${name} ${np}
             ${dropin} ${yield} ${served} $<TARGET_FILE:${program}_${name}>
             ${ARGN})
  endfunction()
  foreach(program errors handlers questions communicators many_communicators threads requests spawn profiled sums quiet held_arrays
          retried thread_groups)
    mpi_program(${program})
  endforeach()
  # A library of the program has functions whose names are MPI's in Fortran.
  add_library(own_functions_${name} SHARED programs/own_names.c)
  target_compile_definitions(own_functions_${name} PRIVATE LIBRARY)
  target_link_libraries(own_functions_${name} PRIVATE PkgConfig::mpi_${name})
  add_executable(own_names_${name} programs/own_names.c)
  target_link_libraries(own_names_${name} PRIVATE own_functions_${name} PkgConfig::mpi_${name})
  same_output(own_names 2 allreduce,)
  same_output(errors 1 allreduce)
  same_output(errors 2 allreduce)
  same_output(errors 2 - fatal)
  same_output(errors 2 allreduce nonblocking)
  foreach(handlers "world made" "world self" "world none" "world waitall" "self made" "self none")
    separate_arguments(words UNIX_COMMAND ${handlers})
    same_output(handlers 2 - ${words})
  endforeach()
  same_output(questions 2 allreduce,bcast)
  same_output(questions 2 - nonblocking)
  same_output(questions 2 allreduce,bcast returned)
  same_output(questions 2 - returned nonblocking)
  # An MPI without Fortran refuses its handles of Fortran's types. "refused" says that the drop-in asked about them.
  add_library(refused_types_${name} MODULE programs/refused_types.c)
  target_link_libraries(refused_types_${name} PRIVATE PkgConfig::mpi_${name} ${CMAKE_DL_LIBS})
  same_output(questions 1 - returned)
  set_tests_properties(dropin_${name}_questions_np1_returned
                       PROPERTIES ENVIRONMENT "below=$<TARGET_FILE:refused_types_${name}>;said=refused")
  same_output(retried 3 ${exchanged})
  same_output(retried 3 ${exchanged} nonblocking)
  same_output(retried 3 reduce,gather left)
  # Each rank is on a node of its own, so that an alltoallv may be an alltoall.
  mpi_test(dropin_${name}_retried_np4_across_nodes 60 ENVIRONMENT CIRCOLL_CORES=1 CIRCOLL_LEARN=off CIRCOLL_MEASURE=off CIRCOLL_PARTS=48
           COMMAND ${here}/same_output_test.sh ${name} 4 ${dropin} ${yield} ${exchanged} $<TARGET_FILE:retried_${name}>)
  same_output(held_arrays 3 reduce_scatter,allgatherv,gatherv,scatterv,alltoallv)
  if(name STREQUAL openmpi)  # those of MPICH 4.0.2 are broken natively
    same_output(held_arrays 4 reduce_scatter,allgatherv,gatherv,scatterv,alltoallv persistent)
  endif()
  target_link_libraries(thread_groups_${name} PRIVATE Threads::Threads)
  same_output(thread_groups 4 allreduce,)
  same_output(requests 3 allreduce,bcast)
  same_output(communicators 5 ${all_collectives})
  same_output(many_communicators 2 allreduce,scan,)
  target_link_libraries(threads_${name} PRIVATE Threads::Threads)
  same_output(threads 3 allreduce,allgatherv,alltoall,gatherv,bcast,scan,barrier)
  if(name STREQUAL mpich)  # Open MPI 4 has no constructors with large counts, and communicators without end
    add_executable(large_types_mpich programs/large_types.c)
    target_link_libraries(large_types_mpich PRIVATE PkgConfig::mpi_mpich)
    foreach(np 1 3 4)
      same_output(large_types ${np} ${all_collectives})
    endforeach()
    same_output(questions 2 - used_up)
    # MPICH looks for the last communicators for seconds where processors are busy.
    set_tests_properties(dropin_mpich_questions_np2_used_up PROPERTIES TIMEOUT 180)
  endif()
  if(name STREQUAL openmpi OR mpi_mpich_VERSION VERSION_GREATER_EQUAL 5)  # Debian's earlier ones cannot (library_faults)
    foreach(children bare alike)
      same_output(spawn 2 allreduce ${children})
      set_tests_properties(dropin_${name}_spawn_np2_${children} PROPERTIES ENVIRONMENT btl=self,vader,tcp)
    endforeach()
  endif()

  # Faults of the library itself, for which tests make allowance.
  mpi_program(library_faults Threads::Threads)
  mpi_test(library_faults_${name} 300 COMMAND python3 ${here}/library_faults_test.py ${name}
           ${yield} $<TARGET_FILE:library_faults_${name}>)

  # Programs of sessions, with and without MPI_Init. They begin anew after their last session if the library can do that
  # without the drop-in. MPICH 4.0 cannot, and Open MPI 5.0.7 hangs or crashes now and then.
  if(mpi_${name}_VERSION VERSION_GREATER_EQUAL 5 OR (name STREQUAL mpich AND mpi_mpich_VERSION VERSION_GREATER_EQUAL 4))
    mpi_program(sessions)
    target_compile_options(sessions_${name} PRIVATE -Wno-stringop-overflow)
    set(times 1)
    set(np_list 1 3 4)
    if(name STREQUAL mpich AND mpi_mpich_VERSION VERSION_LESS 4.1)  # a lone process cannot wait for a message
      set(np_list 3 4)
    elseif(name STREQUAL mpich)
      set(times 2)
    endif()
    foreach(np IN LISTS np_list)
      mpi_test(dropin_${name}_sessions_np${np} 300 ENVIRONMENT CIRCOLL_DEVICE_MEMORY=off COMMAND python3
               ${here}/sessions_test.py ${name} ${np} ${dropin}
               ${yield} $<TARGET_FILE:sessions_${name}> ${times})
    endforeach()
  endif()

  # Calls from which the drop-in learns.
  mpi_program(learning)
  mpi_test(dropin_${name}_learning 900 SERIAL COMMAND python3 ${here}/learning_test.py ${name}
           ${dropin} ${yield} $<TARGET_FILE:learning_${name}>)

  # Memory that only a device touches, on some ranks.
  add_executable(device_memory_${name} programs/device_memory.c)
  target_link_libraries(device_memory_${name} PRIVATE circoll_device_files PkgConfig::mpi_${name} ${CMAKE_DL_LIBS})
  target_link_options(device_memory_${name} PRIVATE -rdynamic)  # its collectives stand in front of the library's
  mpi_test(dropin_${name}_device_memory 120 SERIAL COMMAND python3 ${here}/device_memory_test.py ${name} ${dropin} ${yield}
           $<TARGET_FILE:device_memory_${name}> $<TARGET_FILE:circoll_stub_cuda> $<TARGET_FILE:circoll_stub_hip>
           $<TARGET_FILE:circoll_stub_level_zero>)
  add_executable(device_api_${name} programs/device_api.cpp)
  target_link_libraries(device_api_${name} PRIVATE circoll_${name} ${CMAKE_DL_LIBS})
  foreach(np 1 3)
    mpi_test(mpi_${name}_device_api_np${np} 60 SERIAL ENVIRONMENT ${${name}_environment} COMMAND ${${name}_launch} ${np}
             $<TARGET_FILE:device_api_${name}> $<TARGET_FILE:circoll_stub_cuda>)
  endforeach()

  # Amounts that differ among ranks.
  mpi_program(amounts)
  mpi_test(dropin_${name}_amounts 120 COMMAND ${here}/amounts_test.sh ${name} 3
           ${dropin} ${yield} $<TARGET_FILE:amounts_${name}>)

  # Ranks that make different calls, or equal buffers, or are late.
  mpi_program(mismatched)
  set(np 4)
  if(name STREQUAL mpich)
    set(np 2)
  endif()
  mpi_test(dropin_${name}_mismatched_np${np} 300 COMMAND ${here}/mismatched_test.sh ${name} ${np}
           ${dropin} ${yield} $<TARGET_FILE:mismatched_${name}>)

  # An alltoall(v) in place of blocks of 96 MiB takes two times 64 MiB, and no copy of the vector.
  mpi_program(inplace_memory)
  foreach(node auto off)
    mpi_test(dropin_${name}_inplace_memory_node_${node} 120 SERIAL ENVIRONMENT ${${name}_environment} COMMAND
             ${${name}_launch} 2 env LD_PRELOAD=${preload_dropin} CIRCOLL_NODE=${node} $<TARGET_FILE:inplace_memory_${name}>
             96 160)
  endforeach()
  mpi_test(dropin_${name}_inplace_memory_np5 120 SERIAL ENVIRONMENT ${${name}_environment} COMMAND ${${name}_launch} 5 env
           LD_PRELOAD=${preload_dropin} $<TARGET_FILE:inplace_memory_${name}> 16)

  # A program with AddressSanitizer, whose runtime must be the first library.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND NOT CIRCOLL_SANITIZE)
    add_executable(all_collectives_asan_${name} programs/all_collectives.c)
    target_compile_options(all_collectives_asan_${name} PRIVATE -fsanitize=address)
    target_link_options(all_collectives_asan_${name} PRIVATE -fsanitize=address)
    target_link_libraries(all_collectives_asan_${name} PRIVATE PkgConfig::mpi_${name})
    mpi_test(dropin_${name}_sanitizer 120 SERIAL SKIPS COMMAND ${here}/sanitizer_test.sh ${name} 3
             ${dropin} ${yield} ${cli}
             $<TARGET_FILE:all_collectives_asan_${name}>)
  endif()

  # Other tools of the profiling interface, before and after the drop-in.
  foreach(tool tool chained_tool)
    add_library(${tool}_${name} MODULE programs/tool.c)
    target_link_libraries(${tool}_${name} PRIVATE PkgConfig::mpi_${name} ${CMAKE_DL_LIBS})
  endforeach()
  target_compile_definitions(chained_tool_${name} PRIVATE CHAINED)
  mpi_test(dropin_${name}_tools 60 SERIAL COMMAND ${here}/tools_test.sh ${name} 3 ${dropin} ${yield}
           $<TARGET_FILE:tool_${name}> $<TARGET_FILE:chained_tool_${name}> $<TARGET_FILE:profiled_${name}>)
  mpi_test(dropin_${name}_divergence 60 SERIAL COMMAND ${here}/divergence_test.sh ${name} 3 ${dropin} ${yield}
           $<TARGET_FILE:sums_${name}>)
  find_file(eztrace_core libeztrace-core.so PATHS /usr/lib PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE})
  find_program(otf2_print otf2-print)
  if(eztrace_core AND otf2_print)
    mpi_test(dropin_${name}_eztrace 120 SERIAL COMMAND ${here}/eztrace_test.sh ${name} 2
             ${dropin} ${yield} ${eztrace_core}
             $<TARGET_FILE:profiled_${name}>)
  endif()

  # The launcher of the other MPI, if there is one, for ranks without the drop-in or with other variables.
  set(other mpiexec.mpich)
  if(name STREQUAL mpich)
    set(other mpirun.openmpi)
  endif()
  mpi_program(killed)
  mpi_test(dropin_${name}_killed 240 SERIAL COMMAND python3 ${here}/killed_test.py ${name}
           ${dropin} ${yield} $<TARGET_FILE:killed_${name}>)
  # Ranks that die while the others go on.
  add_executable(survive_${name} programs/survive.c)
  target_include_directories(survive_${name} PRIVATE ${PROJECT_SOURCE_DIR}/core/include)
  target_link_libraries(survive_${name} PRIVATE PkgConfig::mpi_${name} Threads::Threads)
  mpi_test(dropin_${name}_survive 400 SERIAL COMMAND python3 ${here}/survive_test.py ${name}
           ${dropin} ${yield} $<TARGET_FILE:survive_${name}> 40)
  mpi_test(dropin_${name}_census 300 COMMAND python3 ${here}/census_test.py ${name}
           ${dropin} ${yield} $<TARGET_FILE:tool_${name}>
           $<TARGET_FILE:sums_${name}> $<TARGET_FILE:quiet_${name}> $<TARGET_FILE:all_collectives_${name}> ${other})

  # Repeated calls.
  mpi_program(steady_state)
  mpi_test(dropin_${name}_steady_state 60 SERIAL COMMAND ${here}/steady_state_test.sh ${name}
           ${dropin} ${yield} $<TARGET_FILE:steady_state_${name}>)

  # Thousands of communicators.
  mpi_program(communicator_memory)
  mpi_test(dropin_${name}_communicator_memory 120 SERIAL ENVIRONMENT ${openmpi_environment} COMMAND ${${name}_launch} 2 env
           LD_PRELOAD=${preload_dropin} CIRCOLL_ALLREDUCE=recursive_doubling CIRCOLL_BARRIER=circulant
           $<TARGET_FILE:communicator_memory_${name}>)
endfunction()
