! calls LOG: calls.c in Fortran. Built three times: with mpif.h, with `use mpi` (-DUSE_MPI) and with `use mpi_f08`
! (-DUSE_MPI_F08); -DPERSISTENT_IS_MPIX for an MPI whose persistent collectives are an extension, -DLARGE_OVERLOADS for one
! whose mpi_f08 takes counts of 64 bits.
#if defined(LARGE_OVERLOADS) && defined(USE_MPI_F08)
#define HAVE_LARGE 1
#else
#define HAVE_LARGE 0
#endif
#define HAVE_PERSISTENT 1
module matrix
#if defined(USE_MPI_F08)
  use mpi_f08
#ifdef PERSISTENT_IS_MPIX
  use mpi_f08_ext
#endif
#elif defined(USE_MPI)
  use mpi
#ifdef PERSISTENT_IS_MPIX
  use mpi_ext
#endif
#endif
  implicit none
#if !defined(USE_MPI_F08) && !defined(USE_MPI)
  include 'mpif.h'
#ifdef PERSISTENT_IS_MPIX
  include 'mpif-ext.h'
#endif
#endif
  integer, parameter :: most_ranks = 8, most_elements = 192
  integer :: unit, rank, ranks, n, ierr
  character(len=32) :: collective
  integer, asynchronous :: send(0:most_ranks*most_elements - 1), recv(0:most_ranks*most_elements - 1)
  integer, asynchronous :: counts(0:most_ranks - 1), displs(0:most_ranks - 1), bytes(0:most_ranks - 1)
  integer(MPI_ADDRESS_KIND), asynchronous :: addresses(0:most_ranks - 1)
  ! In this one every rank is a neighbour of every rank, and of itself.
#if defined(USE_MPI_F08)
  type(MPI_Comm) :: neighbors
  type(MPI_Request) :: request
  type(MPI_Datatype), asynchronous :: types(0:most_ranks - 1)
#else
  integer :: neighbors
  integer :: request
  integer, asynchronous :: types(0:most_ranks - 1)
#endif
#if HAVE_LARGE
  integer(MPI_COUNT_KIND) :: n_c
  integer(MPI_COUNT_KIND), asynchronous :: counts_c(0:most_ranks - 1)
  integer(MPI_ADDRESS_KIND), asynchronous :: displs_c(0:most_ranks - 1), bytes_c(0:most_ranks - 1)
#endif
contains
  integer function contribution(r, i)
    integer, intent(in) :: r, i
    contribution = 10000*(r + 1) + i
  end function

  integer function total(first, i)
    integer, intent(in) :: first, i
    integer :: r
    total = 0
    do r = 0, first - 1
      total = total + contribution(r, i)
    end do
  end function

  integer function result_elements()
    result_elements = n
    select case (collective)
    case ('barrier')
      result_elements = 0
    case ('gather', 'gatherv')
      result_elements = merge(n*ranks, 0, rank == 0)
    case ('reduce')
      result_elements = merge(n, 0, rank == 0)
    case ('exscan')
      result_elements = merge(0, n, rank == 0)
    case ('allgather', 'allgatherv', 'alltoall', 'alltoallv', 'alltoallw')
      result_elements = n*ranks
    end select
  end function

  integer function expected(i)
    integer, intent(in) :: i
    select case (collective)
    case ('bcast')
      expected = contribution(0, i)
    case ('gather', 'gatherv', 'allgather', 'allgatherv')
      expected = contribution(i/n, mod(i, n))
    case ('scatter', 'scatterv')
      expected = contribution(0, rank*n + i)
    case ('alltoall', 'alltoallv', 'alltoallw')
      expected = contribution(i/n, rank*n + mod(i, n))
    case ('reduce_scatter', 'reduce_scatter_block')
      expected = total(ranks, rank*n + i)
    case ('scan')
      expected = total(rank + 1, i)
    case ('exscan')
      expected = total(rank, i)
    case default
      expected = total(ranks, i)
    end select
  end function

  subroutine begin(name, elements)
    character(len=*), intent(in) :: name
    integer, intent(in) :: elements
    integer :: i
    collective = name
    if (index(name, 'neighbor_') == 1) collective = name(10:)
    n = elements
    send = [(contribution(rank, i), i=0, most_ranks*most_elements - 1)]
    recv = -1
    if (name == 'bcast' .and. rank == 0) recv(0:n - 1) = send(0:n - 1)
    counts = n
    displs = [(i*n, i=0, most_ranks - 1)]
    bytes = 4*displs
    addresses = bytes
    types = MPI_INTEGER
#if HAVE_LARGE
    n_c = n
    counts_c = counts
    displs_c = displs
    bytes_c = bytes
#endif
  end subroutine

  subroutine finish(name)
    character(len=*), intent(in) :: name
    integer :: i
    logical :: right
    right = all(recv(result_elements():) == -1)
    do i = 0, result_elements() - 1
      right = right .and. recv(i) == expected(i)
    end do
    write (unit, '(a)') trim(merge('ok   ', 'wrong', right))//' '//name
  end subroutine

  subroutine absent(name)
    character(len=*), intent(in) :: name
    write (unit, '(a)') 'absent '//name
  end subroutine
end module

program calls
  use matrix
  implicit none
  character(len=1024) :: log
  character(len=12) :: number
  integer :: i, all_ranks(0:most_ranks - 1)

  call get_command_argument(1, log)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  write (number, '(i0)') rank
  open (newunit=unit, file=trim(log)//'.'//trim(number), action='write', status='replace')
  all_ranks = [(i, i=0, most_ranks - 1)]
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ranks, all_ranks, all_ranks, ranks, all_ranks, all_ranks, &
                                      MPI_INFO_NULL, .false., neighbors, ierr)
#include "matrix_calls.inc"
  call MPI_Comm_free(neighbors, ierr)
  close (unit)
  call MPI_Finalize(ierr)
end program
