! Conjugate gradients on the 2D Laplacian, as examples/cg/cg.cpp, in Fortran with `use mpi_f08`. Columns of the grid are
! distributed: they are contiguous here.
!
! usage: cg [N] [double|exact] [blocking|pipelined]
!   exact: inner products of ranks are added as integers, so that no order of additions can be seen in the result.
module cg_solver
  use, intrinsic :: iso_fortran_env, only: real64, int64
  use mpi_f08
  implicit none
  private
  public :: solve

  ! A real as a sum of integers times powers of 2**32: additions of the integers are exact, hence in any order the same.
  integer, parameter :: limbs = 12
  integer, parameter :: exponents(limbs) = [32, 0, -32, -64, -96, -128, -160, -192, -224, -256, -288, -320]

  integer :: n, rank, ranks
  integer :: first, columns  ! of this rank
  logical :: exact

contains

  subroutine solve(n_, exact_, pipelined_)
    integer, intent(in) :: n_
    logical, intent(in) :: exact_, pipelined_
    real(real64), allocatable :: b(:, :), x(:, :)
    real(real64) :: target
    integer :: i, j, iterations

    n = n_
    exact = exact_
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    first = first_of(rank)
    columns = first_of(rank + 1) - first
    allocate(b(n, 0:columns + 1), x(n, 0:columns + 1))
    b = 0
    x = 0
    do j = 1, columns
      do i = 1, n
        b(i, j) = 1.0_real64 / (first + j) + merge(0.25_real64, -0.125_real64, mod(i - 1, 7) == 3)
      end do
    end do
    target = 1.0e-10_real64 * sqrt(total(dot(b, b)))
    if (pipelined_) then
      call pipelined(b, x, target, iterations)
    else
      call classical(b, x, target, iterations)
    end if
    if (rank == 0) print '(a, i0)', 'iterations ', iterations
    call print_solution(b, x)
  end subroutine

  ! Columns before those of a rank.
  integer function first_of(r)
    integer, intent(in) :: r
    first_of = r * (n / ranks) + min(r, mod(n, ranks))
  end function

  real(real64) function dot(a, b)
    real(real64), intent(in) :: a(n, 0:columns + 1), b(n, 0:columns + 1)
    integer :: i, j
    dot = 0
    do j = 1, columns
      do i = 1, n
        dot = dot + a(i, j) * b(i, j)
      end do
    end do
  end function

  function to_limbs(value) result(parts)
    real(real64), intent(in) :: value
    integer(int64) :: parts(limbs)
    real(real64) :: rest
    integer :: i
    rest = value
    do i = 1, limbs
      parts(i) = int(scale(rest, -exponents(i)), int64)
      rest = rest - scale(real(parts(i), real64), exponents(i))
    end do
  end function

  real(real64) function from_limbs(parts)
    integer(int64), intent(in) :: parts(limbs)
    integer :: i
    from_limbs = 0
    do i = limbs, 1, -1
      from_limbs = from_limbs + scale(real(parts(i), real64), exponents(i))
    end do
  end function

  ! The sum of a number of each rank.
  real(real64) function total(value)
    real(real64), intent(in) :: value
    integer(int64) :: parts(limbs)
    if (exact) then
      parts = to_limbs(value)
      call MPI_Allreduce(MPI_IN_PLACE, parts, limbs, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
      total = from_limbs(parts)
    else
      call MPI_Allreduce(value, total, 1, MPI_REAL8, MPI_SUM, MPI_COMM_WORLD)
    end if
  end function

  ! y = A x. A request of the caller is waited for together with those of the halo.
  subroutine multiply(x, y, overlapped)
    real(real64), intent(inout), asynchronous :: x(n, 0:columns + 1)
    real(real64), intent(inout) :: y(n, 0:columns + 1)
    type(MPI_Request), intent(inout), optional :: overlapped
    type(MPI_Request) :: requests(5)
    real(real64) :: left, right
    integer :: i, j, before, behind

    before = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    behind = merge(rank + 1, MPI_PROC_NULL, rank + 1 < ranks)
    call MPI_Irecv(x(:, 0), n, MPI_REAL8, before, 0, MPI_COMM_WORLD, requests(1))
    call MPI_Irecv(x(:, columns + 1), n, MPI_REAL8, behind, 1, MPI_COMM_WORLD, requests(2))
    call MPI_Isend(x(:, 1), n, MPI_REAL8, before, 1, MPI_COMM_WORLD, requests(3))
    call MPI_Isend(x(:, columns), n, MPI_REAL8, behind, 0, MPI_COMM_WORLD, requests(4))
    requests(5) = MPI_REQUEST_NULL
    if (present(overlapped)) requests(5) = overlapped
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    do j = 1, columns
      do i = 1, n
        left = merge(x(max(i - 1, 1), j), 0.0_real64, i > 1)
        right = merge(x(min(i + 1, n), j), 0.0_real64, i < n)
        y(i, j) = 4 * x(i, j) - left - right - x(i, j - 1) - x(i, j + 1)
      end do
    end do
    call MPI_Waitall(3, requests(3:5), MPI_STATUSES_IGNORE)
    if (present(overlapped)) overlapped = requests(5)
  end subroutine

  subroutine print_residual(iteration, squared)
    integer, intent(in) :: iteration
    real(real64), intent(in) :: squared
    if (rank == 0 .and. mod(iteration, 5) == 0) print '(a, i3, es25.16e3)', 'residual ', iteration, sqrt(squared)
  end subroutine

  subroutine classical(b, x, target, iterations)
    real(real64), intent(in) :: b(n, 0:columns + 1), target
    real(real64), intent(inout) :: x(n, 0:columns + 1)
    integer, intent(out) :: iterations
    real(real64), allocatable :: r(:, :), p(:, :), q(:, :)
    real(real64) :: rr, next, alpha
    integer :: k

    allocate(r, p, source=b)
    allocate(q, mold=b)
    rr = total(dot(r, r))
    do k = 0, 10 * n - 1
      if (sqrt(rr) <= target) exit
      call print_residual(k, rr)
      call multiply(p, q)
      alpha = rr / total(dot(p, q))
      x(:, 1:columns) = x(:, 1:columns) + alpha * p(:, 1:columns)
      r(:, 1:columns) = r(:, 1:columns) - alpha * q(:, 1:columns)
      next = total(dot(r, r))
      p(:, 1:columns) = r(:, 1:columns) + next / rr * p(:, 1:columns)
      rr = next
    end do
    iterations = k
  end subroutine

  ! Ghysels and Vanroose: one sum per iteration, overlapped with the product A w.
  subroutine pipelined(b, x, target, iterations)
    real(real64), intent(in) :: b(n, 0:columns + 1), target
    real(real64), intent(inout) :: x(n, 0:columns + 1)
    integer, intent(out) :: iterations
    real(real64), allocatable :: r(:, :), w(:, :), p(:, :), s(:, :), z(:, :), q(:, :)
    real(real64), asynchronous :: values(2), sums(2)
    integer(int64), asynchronous :: parts(2 * limbs), part_sums(2 * limbs)
    type(MPI_Request) :: request
    real(real64) :: rr, wr, before, alpha, beta
    integer :: k

    allocate(r, source=b)
    allocate(w, q, mold=b)
    allocate(p, s, z, source=0 * b)
    alpha = 0
    before = 1
    call multiply(r, w)
    do k = 0, 10 * n
      values = [dot(r, r), dot(w, r)]
      if (exact) then
        parts = [to_limbs(values(1)), to_limbs(values(2))]
        call MPI_Iallreduce(parts, part_sums, 2 * limbs, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, request)
      else
        call MPI_Iallreduce(values, sums, 2, MPI_REAL8, MPI_SUM, MPI_COMM_WORLD, request)
      end if
      call multiply(w, q, request)
      if (exact) sums = [from_limbs(part_sums(:limbs)), from_limbs(part_sums(limbs + 1:))]
      rr = sums(1)
      wr = sums(2)
      if (sqrt(rr) <= target) exit
      call print_residual(k, rr)
      if (k == 0) then
        beta = 0
        alpha = rr / wr
      else
        beta = rr / before
        alpha = rr / (wr - beta * rr / alpha)
      end if
      before = rr
      z(:, 1:columns) = q(:, 1:columns) + beta * z(:, 1:columns)
      s(:, 1:columns) = w(:, 1:columns) + beta * s(:, 1:columns)
      p(:, 1:columns) = r(:, 1:columns) + beta * p(:, 1:columns)
      x(:, 1:columns) = x(:, 1:columns) + alpha * p(:, 1:columns)
      r(:, 1:columns) = r(:, 1:columns) - alpha * s(:, 1:columns)
      w(:, 1:columns) = w(:, 1:columns) - alpha * z(:, 1:columns)
    end do
    iterations = k
  end subroutine

  ! The true residual, and some values of the solution, which is gathered on rank 0.
  subroutine print_solution(b, x)
    real(real64), intent(in) :: b(n, 0:columns + 1)
    real(real64), intent(inout) :: x(n, 0:columns + 1)
    real(real64), allocatable :: ax(:, :), all(:)
    real(real64) :: worst
    integer :: r, i
    integer :: counts(ranks), displs(ranks)

    allocate(ax, mold=b)
    call multiply(x, ax)
    worst = maxval(abs(b(:, 1:columns) - ax(:, 1:columns)))
    if (rank == 0) then
      call MPI_Reduce(MPI_IN_PLACE, worst, 1, MPI_REAL8, MPI_MAX, 0, MPI_COMM_WORLD)
    else
      call MPI_Reduce(worst, worst, 1, MPI_REAL8, MPI_MAX, 0, MPI_COMM_WORLD)
    end if
    displs = [(first_of(r) * n, r = 0, ranks - 1)]
    counts = [((first_of(r + 1) - first_of(r)) * n, r = 0, ranks - 1)]
    allocate(all(0:merge(n * n, 0, rank == 0) - 1))
    call MPI_Gatherv(x(:, 1:columns), columns * n, MPI_REAL8, all, counts, displs, MPI_REAL8, 0, MPI_COMM_WORLD)
    if (rank /= 0) return
    print '(2a)', 'converged ', merge('yes', 'no ', worst < 1.0e-7_real64)
    do i = 0, n * n - 1, n * n / 8 + 1
      print '(a, i0, a, es25.16e3)', 'x[', i, '] ', all(i)
    end do
  end subroutine

end module

program cg
  use mpi_f08
  use cg_solver
  implicit none
  character(len=16) :: word
  integer :: rank, ranks, i, error
  integer :: chosen(3)  ! n, exact, pipelined

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  chosen = [64, 0, 0]
  if (rank == 0) then
    do i = 1, command_argument_count()
      call get_command_argument(i, word)
      select case (word)
      case ('exact')
        chosen(2) = 1
      case ('pipelined')
        chosen(3) = 1
      case ('double', 'blocking')
      case default
        read (word, *, iostat=error) chosen(1)
        if (error /= 0) chosen(1) = 0
      end select
    end do
  end if
  call MPI_Bcast(chosen, 3, MPI_INTEGER, 0, MPI_COMM_WORLD)
  if (chosen(1) < ranks) then
    if (rank == 0) print '(a)', 'cg: N is a number of columns, at least one for each rank'
    call MPI_Abort(MPI_COMM_WORLD, 2)
  end if
  call solve(chosen(1), chosen(2) /= 0, chosen(3) /= 0)
  call MPI_Finalize()
end program
