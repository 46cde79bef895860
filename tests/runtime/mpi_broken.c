/* Preloaded into the ranks of transport mpi, which then have an MPI that fails: in rank 1 the
 * MPI_Testall that completes requests for the FAILS_AT-th time reports an error, too. Calls that
 * complete nothing do not count, since their number depends on time. */
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

enum { FAILS_AT = 40 };

int MPI_Testall(int n, MPI_Request request[], int *done, MPI_Status status[]) {
    static int completed;
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    int code = PMPI_Testall(n, request, done, status);
    if (code || !*done || n == 0 || !rank || strcmp(rank, "1") || ++completed != FAILS_AT)
        return code;
    return MPI_ERR_INTERN;
}
