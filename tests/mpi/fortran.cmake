# The drop-in under Fortran, in its three bindings. Called for each MPI, whose name is ${name}.
function(fortran_tests)
  # Programs in Fortran make the same calls, in its three bindings.
  if(mpif90_${name})
    foreach(binding MPIF USE_MPI USE_MPI_F08)
      foreach(source all_collectives held_arrays)
        set(${source} ${CMAKE_CURRENT_BINARY_DIR}/${source}_${name}_${binding})
        add_custom_command(
          OUTPUT ${${source}}
          COMMAND ${mpif90_${name}} -cpp -D${binding} -O1 -w -fallow-argument-mismatch -o ${${source}}
                  ${here}/programs/${source}.F90
          DEPENDS programs/${source}.F90
          WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
      endforeach()
      add_custom_target(fortran_${name}_${binding} ALL DEPENDS ${all_collectives} ${held_arrays})
      mpi_test(dropin_${name}_fortran_${binding} 120 SERIAL COMMAND ${here}/dropin_test.sh ${name} 3 ${dropin} ${yield}
               ${cli} ${all_collectives})
      mpi_test(dropin_${name}_held_arrays_${binding} 120 SERIAL COMMAND ${here}/same_output_test.sh ${name} 3 ${dropin}
               ${yield} reduce_scatter,allgatherv,gatherv,scatterv,alltoallv ${held_arrays})
    endforeach()
    # A program in C loads a library in Fortran for itself alone.
    set(late_library ${CMAKE_CURRENT_BINARY_DIR}/late_fortran_${name}.so)
    add_custom_command(
      OUTPUT ${late_library}
      COMMAND ${mpif90_${name}} -shared -fPIC -O1 -Wall -J${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/late_fortran_${name}.dir
              -o ${late_library}
              ${here}/programs/late_fortran.F90
      DEPENDS programs/late_fortran.F90
      WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    add_custom_target(fortran_late_${name} ALL DEPENDS ${late_library})
    mpi_program(late_fortran ${CMAKE_DL_LIBS})
    mpi_test(dropin_${name}_late_fortran 60 COMMAND ${here}/same_output_test.sh ${name} 3
             ${dropin} ${yield} allreduce,bcast
             $<TARGET_FILE:late_fortran_${name}> ${late_library})
    # Parts of arrays, with gaps at some ranks. Open MPI 4 has persistent collectives in a module of their own.
    set(sections ${CMAKE_CURRENT_BINARY_DIR}/sections_${name})
    set(forms "blocking nonblocking")
    set(defined "")
    if(name STREQUAL mpich OR mpi_openmpi_VERSION VERSION_GREATER_EQUAL 5)
      string(APPEND forms " persistent")
      list(APPEND defined -DPERSISTENT)
    endif()
    if(name STREQUAL mpich OR mpi_openmpi_VERSION VERSION_GREATER_EQUAL 6)
      list(APPEND defined -DLARGE)
    endif()
    add_custom_command(
      OUTPUT ${sections}
      COMMAND ${mpif90_${name}} -cpp ${defined} -O1 -Wall -o ${sections}
              ${here}/programs/sections.F90
      DEPENDS programs/sections.F90
      WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    add_custom_target(fortran_sections_${name} ALL DEPENDS ${sections})
    foreach(np 1 3 4)
      mpi_test(dropin_${name}_sections_np${np} 60 ENVIRONMENT forms=${forms} COMMAND
               ${here}/same_output_test.sh ${name} ${np} ${dropin}
               ${yield} bcast,allgather,allgatherv,gather,gatherv,scatter,scatterv,alltoall,allreduce,
               ${sections})
    endforeach()
  endif()
endfunction()
