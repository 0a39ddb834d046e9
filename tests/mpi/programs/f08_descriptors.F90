! Calls what stands behind the procedures of `use mpi_f08` in Open MPI 6, whose buffers are descriptors. A line for each
! call says whether the result is right, or that the library got it (f08_library.c, which answers 77).
program f08_descriptors
  use mpi
  implicit none
  interface
    subroutine allreduce(sendbuf, recvbuf, count, datatype, op, comm, ierror) bind(C, name="ompi_allreduce_wrapper_f08")
      type(*), dimension(..) :: sendbuf, recvbuf
      integer :: count, datatype, op, comm, ierror
    end subroutine
    subroutine iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request, ierror) &
        bind(C, name="ompi_iallreduce_wrapper_f08")
      type(*), dimension(..) :: sendbuf, recvbuf
      integer :: count, datatype, op, comm, request, ierror
    end subroutine
    subroutine bcast(buffer, count, datatype, root, comm, ierror) bind(C, name="ompi_bcast_wrapper_f08")
      type(*), dimension(..) :: buffer
      integer :: count, datatype, root, comm, ierror
    end subroutine
    subroutine gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, ierror) &
        bind(C, name="ompi_gather_wrapper_f08")
      type(*), dimension(..) :: sendbuf, recvbuf
      integer :: sendcount, sendtype, recvcount, recvtype, root, comm, ierror
    end subroutine
    subroutine iscatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, request, &
        ierror) bind(C, name="ompi_iscatterv_wrapper_f08")
      type(*), dimension(..) :: sendbuf, recvbuf
      integer :: sendcounts(*), displs(*), sendtype, recvcount, recvtype, root, comm, request, ierror
    end subroutine
    subroutine allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request, ierror) &
        bind(C, name="ompi_allreduce_init_wrapper_f08")
      type(*), dimension(..) :: sendbuf, recvbuf
      integer :: count, datatype, op, comm, info, request, ierror
    end subroutine
    subroutine alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, ierror) &
        bind(C, name="ompi_alltoallv_wrapper_f08")
      type(*), dimension(..) :: sendbuf, recvbuf
      integer :: sendcounts(*), sdispls(*), sendtype, recvcounts(*), rdispls(*), recvtype, comm, ierror
    end subroutine
  end interface
  integer, parameter :: n = 6
  integer :: ierr, rank, size, i, request, matrix(n, n), b(n), scalar
  integer, allocatable :: sent(:), received(:), counts(:), displs(:)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  matrix = rank + 1

  b = 0
  call allreduce(matrix(:, 2), b, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call report('a column', all(b == size*(size + 1)/2))
  b = 0
  call allreduce(matrix(2, :), b, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call report('a row', all(b == size*(size + 1)/2))
  call allreduce(matrix(2:3, 2:3), b, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call report('a block', .false.)
  call allreduce(matrix(:, 2:3), matrix(:, 4:5), 2*n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call report('columns', all(matrix(:, 4:5) == size*(size + 1)/2) .and. all(matrix(:, 6) == rank + 1))
  b = rank + 1
  call allreduce(MPI_IN_PLACE, b, n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
  call report('in place', all(b == size))
  scalar = rank + 1
  call allreduce(scalar, b, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call report('a scalar', b(1) == size*(size + 1)/2)
  ! Gaps are datatypes here; not at rank 0, which is in one piece.
  b = rank
  matrix = rank
  if (rank == 0) then
    call bcast(b, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  else
    call bcast(matrix(2, :), n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  end if
  call report('a row as a datatype', all(matrix(2, :) == 0) .and. sum(matrix) == rank*n*(n - 1))
  matrix = rank
  if (rank == 0) then
    call bcast(b, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  else
    call bcast(matrix(2:3, 5:1:-2), 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  end if
  call report('columns of a block, backwards', all(matrix(2:3, 3:5:2) == 0) .and. sum(matrix) == rank*(n*n - 4))
  call bcast(matrix(2:3, 1:3), 3, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call report('a part of a column', .false.)
  call bcast(matrix(2, :), n + 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call report('more than a row', .false.)
  call bcast(matrix(2, :), 0, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call report('nothing of a row', .true.)
  matrix = rank + 1
  b = 0
  request = MPI_REQUEST_NULL
  call iallreduce(matrix(:, 1), b, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr)
  i = ierr
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  ierr = i
  call report('nonblocking', all(b == size*(size + 1)/2))
  b = 0
  request = MPI_REQUEST_NULL
  call allreduce_init(matrix(:, 1), b, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierr)
  if (ierr == MPI_SUCCESS) then
    call MPI_Start(request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call MPI_Request_free(request, ierr)
  end if
  call report('persistent', all(b == size*(size + 1)/2))
  allocate (sent(n*size), received(n*size), counts(size), displs(size))
  do i = 1, size
    counts(i) = min(i, rank + 1)
    displs(i) = (i - 1)*n
  end do
  sent = rank + 1
  received = -1
  call alltoallv(sent, counts, displs, MPI_INTEGER, received, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call report('irregular', count(received > 0) == sum(counts) .and. received((size - 1)*n + 1) == size)
  ! What the root alone looks at: gaps at other ranks are nobody's business, gaps at the root are the library's.
  do i = 1, n
    matrix(2, i) = 10*rank + i
  end do
  received = -1
  if (rank == 0) then
    call gather(matrix(2, :), n, MPI_INTEGER, received, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  else
    call gather(matrix(2, :), n, MPI_INTEGER, matrix(3, :), n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  end if
  call report('a gather of rows', rank /= 0 .or. &
              all(received == [((10*(i/n) + mod(i, n) + 1), i=0, n*size - 1)]))
  if (rank == 0) call gather(matrix(2, :), n, MPI_INTEGER, matrix(3:4, :), n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  if (rank /= 0) ierr = 77
  call report('a gather into rows', .false.)
  counts = n - 1
  sent = [(i, i=1, n*size)]
  matrix = -1
  request = MPI_REQUEST_NULL
  call iscatterv(sent, counts, displs, MPI_INTEGER, matrix(4, :), n - 1, MPI_INTEGER, 0, MPI_COMM_WORLD, request, ierr)
  i = ierr
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  ierr = i
  call report('a scatter into rows', all(matrix(4, 1:n - 1) == [(n*rank + i, i=1, n - 1)]) .and. &
              count(matrix /= -1) == n - 1)
  call MPI_Finalize(ierr)
contains
  subroutine report(what, right)
    character(*), intent(in) :: what
    logical, intent(in) :: right
    if (rank /= size - 1 .and. rank /= 0) return
    if (ierr == 77) then
      print '(a,i0,3a)', 'rank ', min(rank, 1), ', ', what, ': the library'
    else
      print '(a,i0,4a)', 'rank ', min(rank, 1), ', ', what, ': ', &
        merge('right', 'wrong', right .and. ierr == MPI_SUCCESS)
    end if
  end subroutine
end program
