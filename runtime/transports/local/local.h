/* Transport `local`: the ranks of a run as threads of one process; buffers are read in place.
 *
 * May include: device.h, transport.h and transports/shared.
 */
#ifndef FSDPC_LOCAL_H
#define FSDPC_LOCAL_H

#include "transport.h"

/* local.c */
extern const Transport transport_local;
typedef struct LocalWorld LocalWorld;
/* timeout: seconds that a rank which stands still is waited for. */
LocalWorld *local_world_new(const Plan *p, int32_t ranks, int32_t timeout);
void local_world_free(LocalWorld *w);

#endif
