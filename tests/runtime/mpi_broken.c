/* Preloaded into a rank of transport mpi, whose process then has an MPI that fails: in rank 1 the
 * MPI_Testall number FAILS_AT reports that everything is done, and an error. */
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

enum { FAILS_AT = 400 };

int MPI_Testall(int n, MPI_Request request[], int *done, MPI_Status status[]) {
    static int calls;
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank || strcmp(rank, "1") || ++calls < FAILS_AT)
        return PMPI_Testall(n, request, done, status);
    *done = 1;
    return MPI_ERR_INTERN;
}
