/*
 * A server that the runner provides as a host does: the reference server behind pipes of the runner's, a process for each connection.
 */
#ifndef PROVIDED_H
#define PROVIDED_H

#include "case.h"

/* Provides one with these flags to a session, under that name. */
trunkline_status provide_server(run *run, uint64_t session, const char *name, const json *flags, trunkline_error **err);

#endif
