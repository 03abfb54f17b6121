/*
 * A reference server that is reached by an address: a process of the runner's.
 */
#ifndef REMOTE_H
#define REMOTE_H

#include <sys/types.h>

#include "json.h"

enum { REMOTES_MAX = 4 };

typedef struct {
    pid_t pid;
    /* The end of its standard input, whose end is its own. */
    int input;
    char address[128];
} remote;

/* Starts the program with these flags and pipes; the ends that are left here. */
pid_t start_piped(const char *program, const json *flags, int *input, int *output);
/* Starts one with these flags, and reads the address that it prints. */
void start_remote(remote *remote, const char *program, const json *flags);
/* Visits an address of this machine as a person does; where it redirects to, which is freed, or NULL. */
char *visit_address(const char *address);
/* Kills it, and waits until it is gone. */
void end_remote(remote *remote);

#endif
