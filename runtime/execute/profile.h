/* How long each instruction takes: --profile FILE. See profile.c. */
#ifndef FSDPC_PROFILE_H
#define FSDPC_PROFILE_H

#include "execute.h"

typedef struct Profile Profile;

/* Of a rank; everything is allocated here. *out stays NULL where no profile is wanted. */
int profile_open(Rank *r, Profile **out, char *error);
void profile_close(Profile *p);
/* Around a call of a program, and around each of its instructions. */
void profile_begin(Profile *p, uint32_t program);
int profile_before(Profile *p, uint32_t instr, char *error);
int profile_after(Profile *p, uint32_t instr, char *error);
int profile_end(Profile *p, char *error); /* the call's work is done */

#endif
