# Tests of ranks and collectives: on threads, and on MPI by mpirun where it is built in.
set(comm_sources)
foreach(noun comm_data comm_cases comm_runs comm_faults seeded)
    list(APPEND comm_sources ${CMAKE_SOURCE_DIR}/tests/support/${noun}.c)
endforeach()
if(RIDGE_HAS_MPI)
    list(APPEND comm_sources ${CMAKE_SOURCE_DIR}/tests/support/library_keep.c)
endif()

ridge_test(unit comm_collectives LAYER execute SOURCES ${comm_sources} TIMEOUT 120)
ridge_test(unit comm_combine LAYER execute SOURCES ${comm_sources})
ridge_test(unit comm_failures LAYER execute SOURCES ${comm_sources})
ridge_test(property comm_random LAYER execute SOURCES ${comm_sources} TIMEOUT 120)

# ridge_mpi_test(name ranks command...): on several ranks of this machine, more than it
# has processors if need be.
function(ridge_mpi_test name ranks)
    add_test(NAME ${name} COMMAND ${MPIRUN} --oversubscribe --mca btl self,vader,tcp -n
                                  ${ranks} ${ARGN})
    set(environment
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
        LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/support/openmpi.supp:print_suppressions=0)
    set_tests_properties(${name} PROPERTIES TIMEOUT 120 LABELS "unit;quick;mpi" PROCESSORS
                                            2 ENVIRONMENT "${environment}")
endfunction()

find_program(MPIRUN mpirun)
# Open MPI's own threads and shared memory are nothing that ThreadSanitizer understands.
if(RIDGE_HAS_MPI AND MPIRUN AND NOT CMAKE_C_FLAGS MATCHES "fsanitize=thread")
    foreach(ranks 2 4)
        ridge_mpi_test(unit.comm_collectives_mpi_${ranks} ${ranks}
                       $<TARGET_FILE:test_unit_comm_collectives> mpi)
    endforeach()
    ridge_mpi_test(property.comm_random_mpi 4 $<TARGET_FILE:test_property_comm_random> mpi)

    # Each fault ends its program; what it says is looked at.
    add_executable(comm_fault ${CMAKE_SOURCE_DIR}/tests/support/comm_fault_main.c
                              ${comm_sources})
    target_link_libraries(comm_fault PRIVATE ridge_test_support ridge_execute)
    function(ridge_mpi_fault_test fault ranks message)
        ridge_mpi_test(unit.comm_fault_mpi_${fault}_${ranks} ${ranks}
                       $<TARGET_FILE:comm_fault> ${fault})
        set_tests_properties(unit.comm_fault_mpi_${fault}_${ranks}
                             PROPERTIES PASS_REGULAR_EXPRESSION "ridge: ${message}")
    endfunction()
    ridge_mpi_fault_test(other-kind 2 "rank 0 calls all-reduce of 7 f32, rank 1 all-gather")
    ridge_mpi_fault_test(other-size 2 "rank 0 calls all-reduce of 7 f32, rank 1 all-reduce of 8")
    ridge_mpi_fault_test(other-element 4 "rank [0-9] calls all-gather of b?f[0-9]+ ")
    ridge_mpi_fault_test(other-rows 4 "rank 1 sends 2 rows in ragged all-to-all to rank 0, which receives 3: ")
    ridge_mpi_fault_test(other-message 2 "rank 1 starts a send of 3 f32 to rank 0 with tag 5, ")
    ridge_mpi_fault_test(fails 4 "rank 1: the flour has run out: buy more")
    ridge_mpi_fault_test(gives-up 2 "rank 1: no room for the dough")
    ridge_mpi_fault_test(all-fail 4 "rank [0-9]: the mesh has 9 ranks: take fewer")
    ridge_mpi_fault_test(stuck 4 "rank [0-9] has waited 0.3 s for rank 1 in all-reduce: ")
    ridge_mpi_fault_test(goes-on 2 "rank 1: it has run on for 0.3 s after ")
    ridge_mpi_fault_test(no-message 2 "rank [01] has waited 0.3 s for rank [01] in ")
    ridge_mpi_fault_test(ends-early 2 "rank 0 waits for rank 1 in all-reduce, but that has ended: ")
    ridge_mpi_fault_test(does-not-wait 2 "rank 1: it has ended with all-reduce under way: ")
endif()
