/* The inputs of `tests/canaries.json`, with a secret at each mark, and the remote servers that they name. */
#ifndef PLANTED_H
#define PLANTED_H

#include "json.h"

enum { CANARIES_MAX = 128 };

/* One secret, and the place of the inputs that it stands at. */
typedef struct {
    char secret[48];
    char place[96];
} canary;

extern canary canaries[CANARIES_MAX];
extern size_t canary_count;

/* The secret of a place that the inputs do not have. */
void add_canary(const char *place, const char *secret);

/* The inputs, with their files in that folder and their remote servers running. For the caller to free. */
json *plant_inputs(const char *folder);
/* Ends the remote servers. */
void end_inputs(void);

#endif
