/* Solves a dense system of linear equations by ScaLAPACK on a grid of processes. It uses LU factorisation with partial
 * pivoting (pdgetrf) and solution (pdgetrs). ScaLAPACK's BLACS communicates, in C: broadcasts of parts of matrices
 * (derived datatypes with gaps), sums, and searches for the largest element (an operator of its own).
 *
 * usage: lu [N] [BLOCK] */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

void Cblacs_pinfo(int* rank, int* ranks);
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* my_row, int* my_column);
void Cblacs_gridexit(int context);
void Cblacs_exit(int keep_mpi);
int numroc_(const int* n, const int* block, const int* rank, const int* first_rank, const int* ranks);
void descinit_(int* desc, const int* m, const int* n, const int* mb, const int* nb, const int* first_row,
               const int* first_column, const int* context, const int* leading, int* info);
void pdgetrf_(const int* m, const int* n, double* a, const int* ia, const int* ja, const int* desca, int* ipiv,
              int* info);
void pdgetrs_(const char* trans, const int* n, const int* nrhs, const double* a, const int* ia, const int* ja,
              const int* desca, const int* ipiv, double* b, const int* ib, const int* jb, const int* descb, int* info,
              size_t trans_length);
void pdgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha,
             const double* a, const int* ia, const int* ja, const int* desca, const double* b, const int* ib,
             const int* jb, const int* descb, const double* beta, double* c, const int* ic, const int* jc,
             const int* descc);
double pdlange_(const char* norm, const int* m, const int* n, const double* a, const int* ia, const int* ja,
                const int* desca, double* work, size_t norm_length);

static const int zero = 0;
static const int one = 1;

/* A matrix distributed in blocks, cyclically over the grid. */
struct matrix {
  int rows, columns; /* that this process has */
  int desc[9];
  double* data;
};

struct grid {
  int context, rows, columns, row, column;
};

static struct matrix make(const struct grid* g, int m, int n, int block) {
  struct matrix a;
  a.rows = numroc_(&m, &block, &g->row, &zero, &g->rows);
  a.columns = numroc_(&n, &block, &g->column, &zero, &g->columns);
  const int leading = a.rows > 1 ? a.rows : 1;
  int info = 0;
  descinit_(a.desc, &m, &n, &block, &block, &zero, &zero, &g->context, &leading, &info);
  a.data = calloc((size_t)leading * (size_t)(a.columns > 1 ? a.columns : 1), sizeof(double));
  if (info != 0 || a.data == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return a;
}

/* Index in the whole matrix of a row or column that this process has. */
static int whole(int local, int block, int rank, int ranks) {
  return (local / block * ranks + rank) * block + local % block;
}

/* Numbers without a pattern in [-1, 1). */
static double entry(unsigned i, unsigned j) {
  unsigned x = i * 2654435761u + j * 2246822519u + 12345u;
  x = (x ^ (x >> 15)) * 2246822519u;
  x = (x ^ (x >> 13)) * 3266489917u;
  x ^= x >> 16;
  return (double)x / 2147483648.0 - 1.0;
}

static void fill(struct matrix* a, const struct grid* g, int block, unsigned shift) {
  for (int j = 0; j < a->columns; ++j) {
    for (int i = 0; i < a->rows; ++i) {
      a->data[(size_t)j * (size_t)a->rows + (size_t)i] =
          entry((unsigned)whole(i, block, g->row, g->rows), shift + (unsigned)whole(j, block, g->column, g->columns));
    }
  }
}

static double norm(const char* which, int m, int n, const struct matrix* a) {
  double* const work = calloc((size_t)(a->rows + a->columns) + 1, sizeof(double));
  const double result = pdlange_(which, &m, &n, a->data, &one, &one, a->desc, work, 1);
  free(work);
  return result;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  Cblacs_pinfo(&rank, &ranks);
  int sizes[2] = {argc > 1 ? atoi(argv[1]) : 96, argc > 2 ? atoi(argv[2]) : 8};
  MPI_Bcast(sizes, 2, MPI_INT, 0, MPI_COMM_WORLD);
  const int n = sizes[0];
  const int block = sizes[1];
  if (n < 1 || block < 1) MPI_Abort(MPI_COMM_WORLD, 2);
  int shape[2] = {0, 0};
  MPI_Dims_create(ranks, 2, shape);
  struct grid g = {0, shape[0], shape[1], 0, 0};
  Cblacs_get(-1, 0, &g.context);
  Cblacs_gridinit(&g.context, "Row", shape[0], shape[1]);
  Cblacs_gridinfo(g.context, &g.rows, &g.columns, &g.row, &g.column);

  struct matrix a = make(&g, n, n, block);
  struct matrix lu = make(&g, n, n, block);
  struct matrix b = make(&g, n, 1, block);
  struct matrix x = make(&g, n, 1, block);
  fill(&a, &g, block, 0);
  fill(&lu, &g, block, 0);
  fill(&b, &g, block, 100000);
  fill(&x, &g, block, 100000);

  int* const pivots_here = calloc((size_t)lu.rows + (size_t)block, sizeof(int));
  int info = 0;
  pdgetrf_(&n, &n, lu.data, &one, &one, lu.desc, pivots_here, &info);
  int solved = 0;
  pdgetrs_("N", &n, &one, lu.data, &one, &one, lu.desc, pivots_here, x.data, &one, &one, x.desc, &solved, 1);

  /* |b - A x| relative to |A| |x| n eps: of the order of 1 for a solution that is as good as its arithmetic. */
  const double plus = 1.0;
  const double minus = -1.0;
  const double norms = norm("I", n, n, &a) * norm("I", n, 1, &x);
  pdgemm_("N", "N", &n, &one, &n, &minus, a.data, &one, &one, a.desc, x.data, &one, &one, x.desc, &plus, b.data, &one,
          &one, b.desc);
  const double residual = norm("I", n, 1, &b) / (norms * n * 0x1p-53);

  /* All pivots and the solution on rank 0. Every element has one owner; the others add zero. */
  int* const pivots = calloc((size_t)n, sizeof(int));
  double* const solution = calloc((size_t)n, sizeof(double));
  int* const all_pivots = calloc((size_t)n, sizeof(int));
  double* const all_solution = calloc((size_t)n, sizeof(double));
  for (int i = 0; i < lu.rows; ++i) {
    const int at = whole(i, block, g.row, g.rows);
    if (g.column == 0) pivots[at] = pivots_here[i];
    if (x.columns > 0) solution[at] = x.data[i];
  }
  MPI_Reduce(pivots, all_pivots, n, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(solution, all_solution, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("grid %d x %d, info %d %d\n", g.rows, g.columns, info, solved);
    for (int i = 0; i < n; ++i) printf("pivot %d %d\n", i + 1, all_pivots[i]);
    for (int i = 0; i < n; ++i) printf("x[%d] %.17g\n", i, all_solution[i]);
    printf("residual small: %s\n", residual < 30 ? "yes" : "no");
    printf("scaled residual %.17g\n", residual);
  }
  free(pivots_here);
  free(pivots);
  free(solution);
  free(all_pivots);
  free(all_solution);
  free(a.data);
  free(lu.data);
  free(b.data);
  free(x.data);
  Cblacs_gridexit(g.context);
  Cblacs_exit(1);
  MPI_Finalize();
  return 0;
}
