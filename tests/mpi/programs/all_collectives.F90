! Calls the blocking collectives, in place and not, and prints sums of the results. Knows nothing of Circoll. Built three
! times: with mpif.h, with `use mpi` (-DUSE_MPI) and with `use mpi_f08` (-DUSE_MPI_F08).
program all_collectives
#if defined(USE_MPI_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if !defined(USE_MPI_F08) && !defined(USE_MPI)
  include 'mpif.h'
#endif
  integer, parameter :: n = 100
  integer :: ierr, rank, size, i, total
  integer, allocatable :: a(:), b(:), counts(:), displs(:), same(:), places(:)
  double precision :: x(n), y(n)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  allocate (a(n*size), b(n*size), counts(size), displs(size), same(size), places(size))
  do i = 1, n*size
    a(i) = rank*1000 + mod(i, 97)
  end do
  total = 0
  do i = 1, size
    counts(i) = merge(n, n/2, mod(i, 2) == 1)
    displs(i) = total
    total = total + counts(i)
    same(i) = n/2
    places(i) = (i - 1)*n
  end do
  do i = 1, n
    x(i) = rank + i
  end do

  b = 0
  call MPI_Allreduce(a, b, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call report('allreduce')
  b = a
  call MPI_Allreduce(MPI_IN_PLACE, b, n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
  call report('allreduce in place')
  call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  b(1:n) = nint(y)
  call report('allreduce double')
  b = 0
  call MPI_Reduce(a, b, n, MPI_INTEGER, MPI_SUM, size - 1, MPI_COMM_WORLD, ierr)
  call report('reduce')
  b = a
  if (rank == 0) then
    call MPI_Reduce(MPI_IN_PLACE, b, n, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  else
    call MPI_Reduce(a, b, n, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  end if
  call report('reduce in place')
  b = 0
  call MPI_Reduce_scatter_block(a, b, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call report('reduce_scatter_block')
  b = 0
  call MPI_Reduce_scatter(a, b, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call report('reduce_scatter')
  b = 0
  call MPI_Allgather(a, n, MPI_INTEGER, b, n, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call report('allgather')
  b = 0
  b(rank*n + 1:(rank + 1)*n) = a(1:n)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, n, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call report('allgather in place')
  b = 0
  call MPI_Allgatherv(a, counts(rank + 1), MPI_INTEGER, b, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call report('allgatherv')
  b = 0
  call MPI_Gather(a, n, MPI_INTEGER, b, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call report('gather')
  b = 0
  call MPI_Gatherv(a, counts(rank + 1), MPI_INTEGER, b, counts, displs, MPI_INTEGER, size - 1, MPI_COMM_WORLD, ierr)
  call report('gatherv')
  b = 0
  call MPI_Scatter(a, n, MPI_INTEGER, b, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call report('scatter')
  b = 0
  call MPI_Scatterv(a, counts, displs, MPI_INTEGER, b, counts(rank + 1), MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call report('scatterv')
  b = a
  call MPI_Bcast(b, n, MPI_INTEGER, size - 1, MPI_COMM_WORLD, ierr)
  call report('bcast')
  b = 0
  call MPI_Alltoall(a, n, MPI_INTEGER, b, n, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call report('alltoall')
  b = 0
  call MPI_Alltoallv(a, same, places, MPI_INTEGER, b, same, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call report('alltoallv')
  b = 0
  call MPI_Scan(a, b, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call report('scan')
  b = 0
  call MPI_Exscan(a, b, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call report('exscan')
  call absolute
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)

contains

  ! A datatype of absolute addresses, from MPI_BOTTOM.
  subroutine absolute
#if defined(USE_MPI_F08)
    type(MPI_Datatype) :: place
#else
    integer :: place
#endif
    integer(kind=MPI_ADDRESS_KIND) :: where(1)
    integer :: lengths(1)
    b = 0
    if (rank == 0) b(1:n) = a(1:n)
    call MPI_Get_address(b, where(1), ierr)
    lengths(1) = n
    call MPI_Type_create_hindexed(1, lengths, where, MPI_INTEGER, place, ierr)
    call MPI_Type_commit(place, ierr)
    call MPI_Bcast(MPI_BOTTOM, 1, place, 0, MPI_COMM_WORLD, ierr)
    call MPI_Type_free(place, ierr)
    call report('bcast from MPI_BOTTOM')
  end subroutine

  ! One line on rank 0: the results of all ranks, by point-to-point messages.
  subroutine report(what)
    character(len=*), intent(in) :: what
    integer(kind=8) :: own, other
    integer :: r
    own = 0
    do r = 1, n*size
      own = mod(own*31 + b(r), 1000000007_8)
    end do
    if (rank /= 0) then
      call MPI_Send(own, 1, MPI_INTEGER8, 0, 1, MPI_COMM_WORLD, ierr)
      return
    end if
    do r = 1, size - 1
      call MPI_Recv(other, 1, MPI_INTEGER8, r, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      own = mod(own*131 + other, 1000000007_8)
    end do
    print '(a, 1x, i0)', what, own
  end subroutine

end program
