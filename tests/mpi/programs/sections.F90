! Collectives of `use mpi_f08` on parts of arrays, which have gaps on odd ranks only: blocking, nonblocking, with
! -DPERSISTENT persistent, with -DLARGE with large counts. Rank 0 prints how many elements are wrong on all ranks. The
! program knows nothing of Circoll.
program sections
  use mpi_f08
  implicit none
  integer, parameter :: n = 6
  integer :: ierr, rank, ranks, form, i, root
  integer, allocatable :: counts(:), displs(:)
  integer, asynchronous :: wide(3, n), block(4, n), flat(n)
  integer, allocatable, asynchronous :: all(:), sparse(:, :)
  type(MPI_Request) :: request
  logical :: gaps

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  allocate (counts(ranks), displs(ranks), all(n*ranks), sparse(2, n*ranks))
  counts = [(merge(n, n - 2, mod(i, 2) == 0), i=0, ranks - 1)]
  displs = [(n*i, i=0, ranks - 1)]
  root = ranks - 1
#ifdef PERSISTENT
  do form = 1, 3
#else
  do form = 1, 2
#endif
    ! Where the library knows no gaps, the compiler copies a section to and fro: that is too early for a request.
    gaps = mod(rank, 2) == 1 .and. (form == 1 .or. MPI_SUBARRAYS_SUPPORTED)
    do i = 1, 3  ! the same calls again, as loops make them
      call broadcasts()
      call gathers()
      call scatters()
      call exchanges()
    end do
  end do
#ifdef LARGE
  form = 4
  gaps = mod(rank, 2) == 1
  call broadcasts()
#endif
  call MPI_Finalize(ierr)
contains
  subroutine broadcasts()
    flat = merge([1, 2, 3, 4, 5, 6], -1, rank == root)
    wide = -1
    block = -1
    if (rank == root) wide(2, :) = flat
    if (gaps) then
      call bcast(wide(2, :), n)
      call check('bcast of a row', sum(abs(wide(2, :) - [1, 2, 3, 4, 5, 6])) + count(wide(1:3:2, :) /= -1))
    else
      call bcast(flat, n)
      call check('bcast of a row', sum(abs(flat - [1, 2, 3, 4, 5, 6])))
    end if
    flat = merge([1, 2, 3, 4, 5, 6], -1, rank == root)
    if (rank == root) block(2:3, 1:5:2) = reshape(flat, [2, 3])
    if (gaps) then
      call bcast_block(block(2:3, 1:5:2), 4)
      call check('bcast of a block', sum(abs(block(2:3, 1:3:2) - reshape([1, 2, 3, 4], [2, 2]))) &
                 + count(block(1:4:3, :) /= -1) + count(block(:, 2:6:2) /= -1))
    else
      call bcast(flat, 4)
      call check('bcast of a block', sum(abs(flat(1:4) - [1, 2, 3, 4])))
    end if
    flat = merge([1, 2, 3, 4, 5, 6], -1, rank == root)
    if (gaps) then
      if (rank == root) flat = flat(n:1:-1)
      call bcast(flat(n:1:-1), n)
      call check('bcast backwards', sum(abs(flat(n:1:-1) - [1, 2, 3, 4, 5, 6])))
    else
      call bcast(flat, n)
      call check('bcast backwards', sum(abs(flat - [1, 2, 3, 4, 5, 6])))
    end if
  end subroutine

  subroutine gathers()
    integer :: j, wrong
    do j = 1, n
      flat(j) = 10*rank + j
    end do
    wide = -1
    wide(3, :) = flat
    all = -1
    if (gaps) then
      call allgather(wide(3, :), all)
    else
      call allgather(flat, all)
    end if
    call check('allgather', different(all, .false.))
    all = -1
    if (gaps) then
      call allgatherv(wide(3, :), all)
    else
      call allgatherv(flat, all)
    end if
    call check('allgatherv', different(all, .true.))
    ! What the root alone looks at may have gaps elsewhere.
    do j = 1, 2
      all = -1
      sparse = -1
      if (gaps .and. rank /= root) then
        call gather(wide(3, :), sparse(1, :), j == 2)
      else if (gaps) then
        call gather(wide(3, :), all, j == 2)
      else
        call gather(flat, all, j == 2)
      end if
      wrong = count(sparse /= -1)
      wrong = wrong + merge(different(all, j == 2), count(all /= -1), rank == root)
      call check(merge('gatherv', 'gather ', j == 2), wrong)
    end do
  end subroutine

  subroutine scatters()
    integer :: j, part, wrong
    do j = 1, 2
      all = [(i, i=1, n*ranks)]
      flat = -1
      wide = -1
      if (gaps .and. rank /= root) then
        call scatter(sparse(1, :), wide(1, :), j == 2)
      else if (gaps) then
        call scatter(all, wide(1, :), j == 2)
      else
        call scatter(all, flat, j == 2)
      end if
      if (gaps) flat = wide(1, :)
      part = merge(counts(rank + 1), n, j == 2)
      wrong = sum(abs(flat(1:part) - [(n*rank + i, i=1, part)])) + count(flat(part + 1:) /= -1) &
        + count(wide(2:3, :) /= -1)
      call check(merge('scatterv', 'scatter ', j == 2), wrong)
    end do
  end subroutine

  ! Collectives of which the library takes no gaps.
  subroutine exchanges()
    integer, asynchronous :: from(n*ranks), to(n*ranks)
    from = rank + 1
    to = -1
    select case (form)
    case (1)
      call MPI_Alltoall(from, n, MPI_INTEGER, to, n, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    case (2)
      call MPI_Ialltoall(from, n, MPI_INTEGER, to, n, MPI_INTEGER, MPI_COMM_WORLD, request, ierr)
#ifdef PERSISTENT
    case (3)
      call MPI_Alltoall_init(from, n, MPI_INTEGER, to, n, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierr)
#endif
    end select
    call finish()
    call check('alltoall', sum(abs(to - [((i - 1)/n + 1, i=1, n*ranks)])))
    to = -1
    select case (form)
    case (1)
      call MPI_Allreduce(from, to, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    case (2)
      call MPI_Iallreduce(from, to, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr)
#ifdef PERSISTENT
    case (3)
      call MPI_Allreduce_init(from, to, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierr)
#endif
    end select
    call finish()
    call check('allreduce', count(to(1:n) /= ranks*(ranks + 1)/2))
    if (form == 1) then
      to = from
      call MPI_Allreduce(MPI_IN_PLACE, to, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
      call check('allreduce in place', count(to(1:n) /= ranks*(ranks + 1)/2))
      all = -1
      all(n*rank + 1:n*rank + n) = [(10*rank + i, i=1, n)]
      call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, n, MPI_INTEGER, MPI_COMM_WORLD, ierr)
      call check('allgather in place', different(all, .false.))
    end if
  end subroutine

  ! How many elements are not what the ranks have sent.
  integer function different(gathered, irregular)
    integer, intent(in) :: gathered(:)
    logical, intent(in) :: irregular
    integer :: r, j, expected
    different = 0
    do r = 0, ranks - 1
      do j = 1, n
        expected = merge(-1, 10*r + j, irregular .and. j > counts(r + 1))
        if (gathered(r*n + j) /= expected) different = different + 1
      end do
    end do
  end function

  subroutine bcast(b, elements)
    integer :: b(:)
    integer, intent(in) :: elements
    select case (form)
    case (1)
      call MPI_Bcast(b, elements, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
    case (2)
      call MPI_Ibcast(b, elements, MPI_INTEGER, root, MPI_COMM_WORLD, request, ierr)
#ifdef PERSISTENT
    case (3)
      call MPI_Bcast_init(b, elements, MPI_INTEGER, root, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierr)
#endif
#ifdef LARGE
    case (4)
      call MPI_Bcast(b, int(elements, MPI_COUNT_KIND), MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
#endif
    end select
    call finish()
  end subroutine

  subroutine bcast_block(b, elements)
    integer :: b(:, :)
    integer, intent(in) :: elements
    select case (form)
    case (1)
      call MPI_Bcast(b, elements, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
    case (2)
      call MPI_Ibcast(b, elements, MPI_INTEGER, root, MPI_COMM_WORLD, request, ierr)
#ifdef PERSISTENT
    case (3)
      call MPI_Bcast_init(b, elements, MPI_INTEGER, root, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierr)
#endif
#ifdef LARGE
    case (4)
      call MPI_Bcast(b, int(elements, MPI_COUNT_KIND), MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
#endif
    end select
    call finish()
  end subroutine

  subroutine allgather(from, to)
    integer :: from(:), to(:)
    select case (form)
    case (1)
      call MPI_Allgather(from, n, MPI_INTEGER, to, n, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    case (2)
      call MPI_Iallgather(from, n, MPI_INTEGER, to, n, MPI_INTEGER, MPI_COMM_WORLD, request, ierr)
#ifdef PERSISTENT
    case (3)
      call MPI_Allgather_init(from, n, MPI_INTEGER, to, n, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierr)
#endif
    end select
    call finish()
  end subroutine

  subroutine allgatherv(from, to)
    integer :: from(:), to(:)
    integer :: own
    own = counts(rank + 1)
    select case (form)
    case (1)
      call MPI_Allgatherv(from, own, MPI_INTEGER, to, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    case (2)
      call MPI_Iallgatherv(from, own, MPI_INTEGER, to, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, request, ierr)
#ifdef PERSISTENT
    case (3)
      call MPI_Allgatherv_init(from, own, MPI_INTEGER, to, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, &
                               MPI_INFO_NULL, request, ierr)
#endif
    end select
    call finish()
  end subroutine

  subroutine gather(from, to, irregular)
    integer :: from(:), to(:)
    logical, intent(in) :: irregular
    integer :: own
    own = counts(rank + 1)
    select case (form + merge(3, 0, irregular))
    case (1)
      call MPI_Gather(from, n, MPI_INTEGER, to, n, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
    case (2)
      call MPI_Igather(from, n, MPI_INTEGER, to, n, MPI_INTEGER, root, MPI_COMM_WORLD, request, ierr)
    case (4)
      call MPI_Gatherv(from, own, MPI_INTEGER, to, counts, displs, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
    case (5)
      call MPI_Igatherv(from, own, MPI_INTEGER, to, counts, displs, MPI_INTEGER, root, MPI_COMM_WORLD, request, ierr)
#ifdef PERSISTENT
    case (3)
      call MPI_Gather_init(from, n, MPI_INTEGER, to, n, MPI_INTEGER, root, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierr)
    case (6)
      call MPI_Gatherv_init(from, own, MPI_INTEGER, to, counts, displs, MPI_INTEGER, root, MPI_COMM_WORLD, &
                            MPI_INFO_NULL, request, ierr)
#endif
    end select
    call finish()
  end subroutine

  subroutine scatter(from, to, irregular)
    integer :: from(:), to(:)
    logical, intent(in) :: irregular
    integer :: own
    own = counts(rank + 1)
    select case (form + merge(3, 0, irregular))
    case (1)
      call MPI_Scatter(from, n, MPI_INTEGER, to, n, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
    case (2)
      call MPI_Iscatter(from, n, MPI_INTEGER, to, n, MPI_INTEGER, root, MPI_COMM_WORLD, request, ierr)
    case (4)
      call MPI_Scatterv(from, counts, displs, MPI_INTEGER, to, own, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
    case (5)
      call MPI_Iscatterv(from, counts, displs, MPI_INTEGER, to, own, MPI_INTEGER, root, MPI_COMM_WORLD, request, ierr)
#ifdef PERSISTENT
    case (3)
      call MPI_Scatter_init(from, n, MPI_INTEGER, to, n, MPI_INTEGER, root, MPI_COMM_WORLD, &
                            MPI_INFO_NULL, request, ierr)
    case (6)
      call MPI_Scatterv_init(from, counts, displs, MPI_INTEGER, to, own, MPI_INTEGER, root, MPI_COMM_WORLD, &
                             MPI_INFO_NULL, request, ierr)
#endif
    end select
    call finish()
  end subroutine

  subroutine finish()
    if (form /= 2 .and. form /= 3) return
    if (form == 3) call MPI_Start(request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    if (form == 3) call MPI_Request_free(request, ierr)
  end subroutine

  subroutine check(what, wrong)
    character(*), intent(in) :: what
    integer, intent(in) :: wrong
    integer :: total
    call MPI_Reduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(2a,i0,a,i0)', what, ', form ', form, ', wrong: ', total
  end subroutine
end program
