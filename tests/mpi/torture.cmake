# Random programs (lab/torture). Called for each MPI, whose name is ${name}.
function(torture_tests)
  # Random programs run with the drop-in and once without, and with delayed messages. The tester itself is tested, too.
  function(torture_test suffix np preload)
    mpi_test(torture_${name}_${suffix} 100 LABELS mpi torture ENVIRONMENT ${openmpi_environment} COMMAND ${${name}_launch}
             ${np} env LD_PRELOAD=${preload} $<TARGET_FILE:circoll_torture_${name}> --seconds 3 --patience 40 ${ARGN})
  endfunction()
  foreach(np 2 3 5 7)
    torture_test(np${np} ${np} ${preload_dropin} --seed ${np})
  endforeach()
  # Nodes have two ranks each, as CIRCOLL_CORES says. Then ranks are relabelled, on nodes in no order.
  torture_test(nodes_np5 5 "${preload_dropin};CIRCOLL_CORES=2;CIRCOLL_LEARN=off" --seed 41)
  add_library(circoll_scattered_${name} MODULE scattered_nodes.c)
  target_link_libraries(circoll_scattered_${name} PRIVATE PkgConfig::mpi_${name})
  set(relabelled CIRCOLL_POLICY=file:${here}/relabelled.json)
  torture_test(scattered_np7 7 "${preload_dropin}:$<TARGET_FILE:circoll_scattered_${name}>;${relabelled}" --seed 42)
  set(placed CIRCOLL_POLICY=file:${here}/placed.json)
  torture_test(placed_np7 7 "${preload_dropin}:$<TARGET_FILE:circoll_scattered_${name}>;${placed}" --seed 43 --may-be-native)
  # Exchanges go through nodes. Ranks forward blocks of others, and learn their sizes first in an alltoallv.
  foreach(np 5 7)
    torture_test(exchanges_np${np} ${np} "${preload_dropin};CIRCOLL_CORES=2;CIRCOLL_POLICY=file:${here}/exchanges.json"
                 --seed 4${np} --collectives alltoall,alltoallv)
  endforeach()
  torture_test(scattered_exchanges_np7 7 "${preload_dropin}:$<TARGET_FILE:circoll_scattered_${name}>;CIRCOLL_POLICY=file:${here}/exchanges.json"
               --seed 49 --collectives alltoall,alltoallv)
  # Algorithms go through groups of ranks that are not quite the nodes.
  torture_test(groups_np7 7 "${preload_dropin}:$<TARGET_FILE:circoll_scattered_${name}>;THREE_NODES=1;CIRCOLL_POLICY=file:${here}/groups.json"
               --seed 44 --may-be-native)
  # Between nodes messages go in parts. Those of 96 bytes hold whole elements of most types with gaps, and those of 50
  # hold none.
  torture_test(parts_np3 3 "${preload_dropin};CIRCOLL_CORES=1;CIRCOLL_PARTS=96;CIRCOLL_LEARN=off" --seed 51)
  torture_test(parts_np5 5 "${preload_delay};CIRCOLL_CORES=2;CIRCOLL_PARTS=50;CIRCOLL_LEARN=off" --seed 52)
  torture_test(parts_np7 7 "${preload_dropin};CIRCOLL_CORES=1;CIRCOLL_PARTS=1000;CIRCOLL_LEARN=off" --seed 53 --threads multiple)
  # Receivers answer messages, in memory and through MPI, where these may go in parts.
  set(windows CIRCOLL_POLICY=file:${here}/windows.json)
  torture_test(windows_np5 5 "${preload_dropin};CIRCOLL_CORES=2;CIRCOLL_PARTS=96;${windows}" --seed 54)
  torture_test(windows_np7 7 "${preload_delay};CIRCOLL_CORES=1;${windows};CIRCOLL_NODE=off" --seed 55)
  # The newer trees and butterflies, some of them for even numbers of ranks only.
  set(newer CIRCOLL_POLICY=file:${here}/newer.json)
  torture_test(newer_np5 5 "${preload_dropin};${newer}" --seed 56)
  torture_test(newer_np6 6 "${preload_dropin};CIRCOLL_CORES=1;CIRCOLL_PARTS=96;${newer}" --seed 57)
  torture_test(newer_np7 7 "${preload_dropin};${newer}" --seed 59)
  torture_test(newer_np8 8 "${preload_delay};CIRCOLL_NODE=off;${newer}" --seed 58)
  torture_test(threads 3 ${preload_dropin} --seed 13 --threads multiple)
  # Among neighbours only, against the definition. The other tests have some such calls, too.
  foreach(np 2 3 5 7)
    torture_test(neighbors_np${np} ${np} ${preload_dropin} --seed 9${np} --collectives neighbors)
  endforeach()
  torture_test(neighbors_node_aware_np7 7 "${preload_dropin};CIRCOLL_CORES=2;CIRCOLL_LEARN=off;CIRCOLL_NEIGHBOR=node_aware" --seed 96
               --collectives neighbors)
  torture_test(neighbors_threads 3 "${preload_delay};CIRCOLL_NODE=off" --seed 98 --collectives neighbors --threads multiple)
  torture_test(neighbors_checked 3 "${preload_dropin};CIRCOLL_MATCH=1" --seed 99 --collectives neighbors)
  # The first blocking calls of a collective on each communicator are native, and the next ones are served.
  torture_test(first_calls_np3 3 "${preload_dropin};CIRCOLL_SERVE_AFTER=2" --seed 81 --may-be-native)
  torture_test(first_calls_np5 5 "${preload_dropin};CIRCOLL_SERVE_AFTER=1" --seed 82 --may-be-native --threads multiple)
  # This case hung in the library while the first nonblocking calls were native, too.
  if(name STREQUAL openmpi)
    torture_test(first_calls_np2 2 "${preload_dropin};CIRCOLL_SERVE_AFTER=1024" --seed 944183631 --only 27)
  endif()
  torture_test(delayed_np3 3 "${preload_delay};CIRCOLL_NODE=off" --seed 23)
  torture_test(delayed_np5 5 "${preload_delay};CIRCOLL_NODE=off" --seed 25 --threads multiple)
  torture_test(delayed_nodes_np5 5 "${preload_delay};CIRCOLL_CORES=2;CIRCOLL_LEARN=off" --seed 26 --threads multiple)
  torture_test(segment_np3 3 "${preload_dropin};CIRCOLL_NODE_COPY=segment" --seed 61)
  torture_test(direct_np3 3 "${preload_dropin};CIRCOLL_NODE_COPY=direct" --seed 62)
  # Ranks agree about each call, as if device memory could come. Nonblocking calls are native, with faults of their own.
  torture_test(devices_np3 3 "${preload_dropin};CIRCOLL_DEVICE_MEMORY=on" --seed 71 --modes blocking,persistent
               --collectives ranks)
  torture_test(native 3 ${yield} --seed 33)
  torture_test(communicators_np5 5 ${preload_dropin} --seed 45 --many-communicators)
  torture_test(few_tags_np3 3
               ${dropin}:$<TARGET_FILE:circoll_few_tags_${name}>:${yield}
               --seed 47 --many-communicators --may-be-native)
  mpi_test(torture_${name}_tester 200 SERIAL LABELS mpi torture ENVIRONMENT ${openmpi_environment} COMMAND
           ${here}/torture_test.sh $<TARGET_FILE:circoll_faulty_${name}> ${yield}
           $<TARGET_FILE:circoll_torture_${name}> ${${name}_launch} 3)

  mpi_test(torture_${name}_killed 400 SERIAL LABELS mpi torture COMMAND python3
           ${here}/torture_killed_test.py ${name} ${dropin}
           ${yield} $<TARGET_FILE:circoll_torture_${name}>)

  # The drop-in compares the calls of ranks.
  torture_test(checked_np3 3 "${preload_dropin};CIRCOLL_MATCH=1" --seed 51)
  torture_test(checked_threads 3 "${preload_dropin};CIRCOLL_MATCH=1" --seed 53 --threads multiple)
  torture_test(checked_delayed 5 "${preload_delay};CIRCOLL_MATCH=1" --seed 55)

  # The drop-in records the bits of all calls, which may have any arguments.
  set(recorded CIRCOLL_BITS_RECORD=${CMAKE_CURRENT_BINARY_DIR}/recorded_${name})
  torture_test(recorded_np5 5 "${preload_dropin};${recorded}" --seed 57)
  torture_test(recorded_threads 3 "${preload_dropin};${recorded}_threads;CIRCOLL_MATCH=1" --seed 58 --threads multiple)
endfunction()
