# CIRCOLL_MATCH. Called for each MPI, whose name is ${name}.
function(check_tests)
  # CIRCOLL_MATCH=1 reports calls that do not match, and says nothing of correct programs.
  mpi_program(mismatches)
  target_link_options(mismatches_${name} PRIVATE -rdynamic)  # its functions are named
  set(mismatch_programs "")
  if(mpif90_${name})
    foreach(binding MPIF USE_MPI USE_MPI_F08)
      set(program ${CMAKE_CURRENT_BINARY_DIR}/mismatch_${name}_${binding})
      add_custom_command(
        OUTPUT ${program}
        COMMAND ${mpif90_${name}} -cpp -D${binding} -O1 -w -fallow-argument-mismatch -rdynamic -o ${program}
                ${here}/programs/mismatch.F90
        DEPENDS programs/mismatch.F90
        WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
      list(APPEND mismatch_programs ${program})
    endforeach()
    add_custom_target(fortran_mismatch_${name} ALL DEPENDS ${mismatch_programs})
  endif()
  mpi_test(check_${name} 300 SERIAL COMMAND python3 ${here}/check_test.py ${name}
           ${dropin} ${yield} $<TARGET_FILE:mismatches_${name}>
           ${mismatch_programs})
  mpi_test(check_${name}_nonblocking_3 120 SERIAL ENVIRONMENT CIRCOLL_MATCH=1 COMMAND
           ${here}/nonblocking_test.sh ${name} 3 ${dropin}
           ${yield} ${cli} $<TARGET_FILE:nonblocking_${name}>)
  foreach(run "all_collectives 3" "communicators 5" "errors 2" "errors 2 nonblocking" "threads 3"
              "requests 3" "many_communicators 2")
    separate_arguments(words UNIX_COMMAND ${run})
    list(POP_FRONT words program np)
    string(REPLACE " " "_" test "check_${name}_${run}")
    mpi_test(${test} 120 SERIAL ENVIRONMENT CIRCOLL_MATCH=1 QUIET=1 COMMAND
             ${here}/same_output_test.sh ${name} ${np} ${dropin}
             ${yield} - $<TARGET_FILE:${program}_${name}> ${words})
  endforeach()
endfunction()
