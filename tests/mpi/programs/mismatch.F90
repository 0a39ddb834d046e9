! Rank 1 calls MPI_Barrier where the others call MPI_Bcast. Compiled with one of MPIF, USE_MPI, USE_MPI_F08.
program mismatch
#if defined(USE_MPI_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if defined(MPIF)
  include 'mpif.h'
#endif
  integer :: rank, ierr, a(10)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  a = 0
  if (rank == 1) then
    call odd()
  else
    call ordinary()
  end if
  call MPI_Finalize(ierr)
contains
  subroutine ordinary()
    call MPI_Bcast(a, 10, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  end subroutine
  subroutine odd()
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end subroutine
end program
