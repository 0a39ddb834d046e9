! Nonblocking collectives whose arrays of counts and displacements are overwritten and deallocated as soon as the call has
! returned. Compiled with one of MPIF, USE_MPI, USE_MPI_F08. Knows nothing of Circoll: its output must be the same with and
! without the drop-in.
program held_arrays
#if defined(USE_MPI_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if defined(MPIF)
  include 'mpif.h'
#endif
  integer, parameter :: most = 3000
  integer :: rank, ranks, ierr, form, i
  integer, asynchronous :: from(0:most - 1), to(0:most - 1)
  integer, allocatable :: counts(:), displs(:), others(:), places(:)
#if defined(USE_MPI_F08)
  type(MPI_Request) :: request
#else
  integer :: request
#endif
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  do form = 1, 5
    from = [(rank * 10000 + i, i = 0, most - 1)]
    to = -1
    allocate(counts(0:ranks - 1), displs(0:ranks - 1), others(0:ranks - 1), places(0:ranks - 1))
    do i = 0, ranks - 1
      counts(i) = 3 + 2 * i
      displs(i) = (ranks - 1 - i) * 40
      ! What rank i sends here, and what goes there, of an exchange.
      others(i) = 1 + rank + i
      places(i) = i * 40
    end do
    select case (form)
    case (1)
      call MPI_Ireduce_scatter(from, to, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr)
    case (2)
      call MPI_Iallgatherv(from, counts(rank), MPI_INTEGER, to, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, request, ierr)
    case (3)
      call MPI_Igatherv(from, counts(rank), MPI_INTEGER, to, counts, displs, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, &
                        request, ierr)
    case (4)
      call MPI_Iscatterv(from, counts, displs, MPI_INTEGER, to, counts(rank), MPI_INTEGER, 0, MPI_COMM_WORLD, request, ierr)
    case (5)
      call MPI_Ialltoallv(from, others, displs, MPI_INTEGER, to, others, places, MPI_INTEGER, MPI_COMM_WORLD, request, ierr)
    end select
    counts = 1000000
    displs = -1000000
    others = 1000000
    places = -1000000
    deallocate(counts, displs, others, places)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call report()
  end do
  call MPI_Finalize(ierr)
contains
  ! The sums of all ranks, on rank 0.
  subroutine report()
    integer :: k
    integer(8) :: mine, sums(0:63)
    mine = 0
    do k = 0, most - 1
      mine = mine + int(to(k), 8) * (k + 1)
    end do
    sums = 0
    call MPI_Gather(mine, 1, MPI_INTEGER8, sums, 1, MPI_INTEGER8, 0, MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(a, i2, 8i16)', 'form', form, sums(0:ranks - 1)
  end subroutine
end program
