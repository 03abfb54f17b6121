/* Handlers of a behaviour case: docs/internals/behaviour.md, "Handlers". */
#ifndef SCRIPTED_H
#define SCRIPTED_H

#include "fixture.h"

enum { DESKS_MAX = 16 };

/* The handlers of the pool or of one session, and what they were asked. */
typedef struct {
    char name[64];
    /* Where the pool is: it is there before anything is asked. */
    trunkline_pool *const *pool;
    json *scripts;
    json *asked;
} desk;

/* Furnishes a desk; the handlers that it offers. */
uint64_t begin_desk(desk *desk, const char *name, trunkline_pool *const *pool, const json *scripts);
/* What the library is given, with the desk as its `user_data`. */
void ask_desk(void *user_data, uint32_t news, uint64_t request, trunkline_str text);
/* A copy of what it was asked so far. */
json *asked_of(const desk *desk);
/* For a desk that nothing is asked of any more. */
void end_desk(desk *desk);

#endif
