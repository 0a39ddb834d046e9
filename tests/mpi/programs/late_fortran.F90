! The part in Fortran of late_fortran.c.
module late_fortran
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi_f08
  implicit none
contains
  ! The sum of a number over all ranks, in place, and rank 1's number, to all.
  integer(c_int) function late_sum(x) bind(C)
    integer(c_int), value :: x
    integer :: sum, first, rows(3, 2), refused, class
    sum = x
    call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    first = x
    call MPI_Bcast(first, 1, MPI_INTEGER, 1, MPI_COMM_WORLD)
    late_sum = 1000*sum + first
    ! The library refuses the gaps, if its procedures see them.
    if (.not. MPI_SUBARRAYS_SUPPORTED) return
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    rows = 1
    call MPI_Allreduce(MPI_IN_PLACE, rows(2, :), 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, refused)
    late_sum = late_sum + 1000000*rows(2, 2)
    call MPI_Error_class(refused, class)
    late_sum = late_sum + 10000000*class
  end function
end module
