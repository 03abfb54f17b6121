/* All that a host was shown, and a search for secrets in it. */
#ifndef SHOWN_H
#define SHOWN_H

#include "fixture.h"

/* Keeps what was shown at a place, on whatever thread. */
void keep(const char *place, trunkline_str text);
void keep_buf(const char *place, trunkline_buf *buf);
/* Everything that an error and what led to it can be asked for; frees it. What it gives back of its call is kept as `arguments`. */
void keep_error(const char *place, trunkline_error *error);
/* What a function of the library gave: its result or its error, and one of both. */
void keep_outcome(const char *place, trunkline_buf *buf, trunkline_error *error);
/* A file, if it can be read; one of `/proc` too. */
void keep_file(const char *place, const char *path);
/* Every file below a folder. */
void keep_folder(const char *place, const char *path);

size_t views_of(const char *place);
size_t views_in_all(void);
void free_views(void);

/* Says where a secret is seen, in any of its forms, but at `allowed`: how often. `is_allowed` says whether it is seen there. */
size_t find_secret(const char *secret, const char *name, const char *allowed, bool *is_allowed);

/* The text of a file, for the caller to free; NULL when it cannot be read. */
char *read_file(const char *path, size_t *length);

#endif
